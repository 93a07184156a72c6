//go:build linux

package isolation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// freezeTimeout bounds the wait until every process stands still.
const freezeTimeout = 5 * time.Second

// Pause stops every process of the sandbox where it is; memory, processes and
// connections stay. Pausing a paused sandbox does nothing.
func (b *Box) Pause(ctx context.Context) error {
	b.pausing.Lock()
	defer b.pausing.Unlock()
	if b.paused {
		return nil
	}
	if b.ended() {
		return ErrGone
	}
	// A frozen sandbox cannot see its server end: the next one has to.
	if err := b.note(); err != nil {
		return fmt.Errorf("isolation: pause: %w", err)
	}
	if err := b.freeze(ctx); err != nil {
		_ = b.unfreeze()
		b.unnote()
		return fmt.Errorf("isolation: pause: %w", err)
	}
	b.paused = true
	return nil
}

// Resume lets a paused sandbox go on.
func (b *Box) Resume(context.Context) error {
	b.pausing.Lock()
	defer b.pausing.Unlock()
	if b.ended() {
		return ErrGone
	}
	if !b.paused {
		return nil
	}
	if err := b.unfreeze(); err != nil {
		return fmt.Errorf("isolation: resume: %w", err)
	}
	b.paused = false
	b.full.Store(false)
	b.unnote()
	return nil
}

func (b *Box) ended() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// thaw lets frozen processes die: version 1 keeps even killed ones.
func (b *Box) thaw() {
	b.pausing.Lock()
	defer b.pausing.Unlock()
	if b.paused {
		_ = b.unfreeze()
		b.paused = false
		b.unnote()
	}
}

func (b *Box) freeze(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, freezeTimeout)
	defer cancel()
	still := func() (bool, error) { return stopTree(b.cmd.Process.Pid) }
	switch {
	case b.cage.dirs[""] != "":
		if err := b.cage.write("", "cgroup.freeze", "1"); err != nil {
			return err
		}
		still = func() (bool, error) { return b.cage.stat("", "cgroup.events", "frozen") == 1, nil }
	case b.cage.dirs["freezer"] != "":
		still = b.freezeV1
	}
	return poll(ctx, func() (bool, error) {
		// Nothing that ends ever stands still, and its end waits for this.
		if b.dying.Load() || b.ended() {
			return false, ErrGone
		}
		return still()
	})
}

// freezeV1 asks again each time: a freeze may stop half-way.
func (b *Box) freezeV1() (bool, error) {
	if err := b.cage.write("freezer", "freezer.state", "FROZEN"); err != nil {
		return false, err
	}
	state, err := os.ReadFile(filepath.Join(b.cage.dirs["freezer"], "freezer.state"))
	return strings.TrimSpace(string(state)) == "FROZEN", err
}

func (b *Box) unfreeze() error {
	switch {
	case b.cage.dirs[""] != "":
		return b.cage.write("", "cgroup.freeze", "0")
	case b.cage.dirs["freezer"] != "":
		return b.cage.write("freezer", "freezer.state", "THAWED")
	}
	return continueTree(b.cmd.Process.Pid)
}

// poll asks until yes, an error or the end of ctx.
func poll(ctx context.Context, ask func() (bool, error)) error {
	for wait := 200 * time.Microsecond; ; wait = min(2*wait, 20*time.Millisecond) {
		ok, err := ask()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// stopTree stops process 1 first and its descendants downwards, so that no
// shell sees a stopped child and reports it. It says whether all stand still;
// what was forked meanwhile is found by the next call.
func stopTree(root int) (bool, error) {
	still := true
	for _, p := range processTree(root) {
		if p.state == 'T' || p.state == 'Z' || p.state == 't' {
			continue
		}
		// One that waits in the kernel, as for a child that it has vforked and that
		// was stopped before it became a program, stops before it runs on.
		if p.state != 'D' {
			still = false
		}
		if err := unix.Kill(p.pid, unix.SIGSTOP); err != nil && !errors.Is(err, unix.ESRCH) {
			return false, err
		}
	}
	return still, nil
}

// continueTree goes from the leaves upwards.
func continueTree(root int) error {
	list := processTree(root)
	for i := len(list) - 1; i >= 0; i-- {
		if err := unix.Kill(list[i].pid, unix.SIGCONT); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

package attend

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Terminal is a terminal inside a sandbox, shown on this program's own.
type Terminal struct {
	Sandbox *native.Sandbox
	Argv    []string // nil = a login shell
	Options core.RunOptions
	Stdin   *os.File // nil = nobody types
	Stdout  *os.File // where the screen is
	Output  io.Writer
	Signals *Signals
}

const (
	interruptKey = 0x03 // ^C
	endKey       = 0x04 // ^D
)

// Run shows the terminal until its process ends. While it does, the own terminal
// is raw: every key goes inside. It is given back in any case.
func (t *Terminal) Run(ctx context.Context) (*core.CommandResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var broken atomic.Pointer[error]
	o := t.Options
	o.OnPTY = func(b []byte) {
		if _, err := t.Output.Write(b); err != nil && broken.CompareAndSwap(nil, &err) {
			cancel(err)
		}
	}
	restore, err := Raw(t.Stdin)
	if err != nil {
		return nil, err
	}
	defer restore()
	remote, err := t.Sandbox.Pty.Create(ctx, core.PtyOptions{Size: sizeOf(t.Stdout, t.Stdin), Argv: t.Argv, RunOptions: o})
	if err != nil {
		return nil, Interrupted(ctx, err)
	}
	result, err := t.attend(ctx, cancel, remote)
	if failed := broken.Load(); failed != nil {
		return result, *failed
	}
	return result, Interrupted(ctx, err)
}

func (t *Terminal) attend(ctx context.Context, cancel context.CancelCauseFunc, remote *native.Terminal) (*core.CommandResult, error) {
	resized, stop := watchSize()
	defer stop()
	if t.Stdin != nil {
		go t.typeInto(ctx, remote)
	}
	told := false
	for {
		select {
		case <-remote.Done():
			return remote.Wait(ctx)
		case <-resized:
			go func() { _ = remote.Resize(ctx, sizeOf(t.Stdout, t.Stdin)) }()
		case s := <-t.Signals.c:
			if s == os.Interrupt && !told {
				told = true
				go func() { _ = remote.SendInput(ctx, []byte{interruptKey}) }()
				continue
			}
			cancel(&InterruptedError{s})
		case <-ctx.Done():
			return nil, t.end(ctx, remote)
		}
	}
}

// end kills the process that nobody attends any more.
func (t *Terminal) end(ctx context.Context, remote *native.Terminal) error {
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), signalClock)
	defer cancel()
	_, _ = remote.Kill(cleanup)
	remote.Disconnect()
	return context.Cause(ctx)
}

// typeInto sends keys until there are no more; the end of a pipe is the key that
// ends input, twice when a line is open.
func (t *Terminal) typeInto(ctx context.Context, remote *native.Terminal) {
	buf := make([]byte, 32<<10)
	last := byte('\n')
	for {
		n, err := t.Stdin.Read(buf)
		if n > 0 {
			last = buf[n-1]
			if remote.SendInput(ctx, buf[:n]) != nil {
				return
			}
		}
		if errors.Is(err, io.EOF) {
			end := []byte{endKey, endKey}
			if last == '\n' {
				end = end[:1]
			}
			_ = remote.SendInput(ctx, end)
		}
		if err != nil {
			return
		}
	}
}

// watchSize tells when the own terminal changes its size.
func watchSize() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	notifySize(c)
	return c, func() { signal.Stop(c) }
}

//go:build linux

package isolation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/syscalls"
)

// Mode is what the rights of this process allow.
type Mode string

const (
	// Root maps 65,536 ids into each sandbox: packages can be installed.
	Root Mode = "root"
	// Ordinary has one id: the system's own files cannot be changed inside.
	Ordinary Mode = "ordinary"
)

// Config says where an Engine works. StateDir is required.
type Config struct {
	// StateDir holds what sandboxes write; it is made 0700 if missing and may
	// be shared with other engines.
	StateDir string
	// Binary is what runs inside; "" is this program. It has to call
	// guest.Main first thing.
	Binary string
	// Pool is how many disks wait ready for the next sandboxes: 0 is 4,
	// negative is none.
	Pool int
	// Built lists the templates that were built, anew for each start; nil = none.
	Built func() []Template
	// Log takes what no caller can be told; nil discards it.
	Log *slog.Logger
}

// Engine is the parent of sandboxes. Make it with Open.
type Engine struct {
	mode     Mode
	log      *slog.Logger
	binary   *os.File
	path     string
	built    func() []Template
	home     *home
	filter   []byte
	ids      *idRanges
	groups   *controlGroups
	plots    *plotPool
	skeleton *skeleton

	mu     sync.Mutex
	boxes  map[*Box]struct{}
	names  map[string]bool
	closed bool
}

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("isolation: engine is closed")

// Open prepares an engine and removes what crashed ones left in StateDir.
// It starts no sandbox: a machine that refuses namespaces says so in Start
// and in Needs.
func Open(ctx context.Context, c Config) (*Engine, error) {
	if c.StateDir == "" {
		return nil, errors.New("isolation: no state directory")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{mode: Ordinary, log: c.Log, built: c.Built, boxes: map[*Box]struct{}{}, names: map[string]bool{}}
	if os.Geteuid() == 0 {
		e.mode = Root
	}
	if err := e.open(c); err != nil {
		_ = e.Close()
		return nil, fmt.Errorf("isolation: %w", err)
	}
	return e, nil
}

func (e *Engine) open(c Config) error {
	profile, err := syscalls.Default()
	if err != nil {
		return err
	}
	if e.filter, err = profile.Program(); err != nil {
		return err
	}
	if err := e.openBinary(c.Binary); err != nil {
		return err
	}
	if err := removeLeftovers(c.StateDir); err != nil {
		e.log.Warn("leftovers of an earlier run", "error", err)
	}
	if e.home, err = makeHome(c.StateDir); err != nil {
		return err
	}
	e.ids = newIDRanges()
	e.groups = findControlGroups(e.home.name)
	if e.skeleton, err = openSkeleton(filepath.Join(c.StateDir, "skeleton"), e.mode); err != nil {
		return err
	}
	e.plots = newPlotPool(e, poolSize(c.Pool))
	return nil
}

// defaultPool is how many plots wait ready.
const defaultPool = 4

func poolSize(asked int) int {
	switch {
	case asked < 0:
		return 0
	case asked == 0:
		return defaultPool
	}
	return asked
}

// openBinary keeps the program open, so that a later sandbox runs the same
// one even when the file was replaced.
func (e *Engine) openBinary(path string) error {
	e.path = path
	if path == "" {
		path = "/proc/self/exe"
		self, err := os.Executable()
		if err != nil {
			return err
		}
		e.path = self
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("program for sandboxes: %w", err)
	}
	e.binary = f
	return nil
}

// Mode tells with which rights sandboxes are made.
func (e *Engine) Mode() Mode { return e.mode }

// Close ends every sandbox and leaves nothing behind.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	boxes := make([]*Box, 0, len(e.boxes))
	for b := range e.boxes {
		boxes = append(boxes, b)
	}
	e.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(boxes))
	for i, b := range boxes {
		wg.Go(func() { errs[i] = b.Kill() })
	}
	wg.Wait()
	return errors.Join(append(errs, e.releaseAll())...)
}

func (e *Engine) releaseAll() error {
	var errs []error
	if e.plots != nil {
		errs = append(errs, e.plots.close())
	}
	if e.skeleton != nil {
		e.skeleton.close()
	}
	if e.groups != nil {
		errs = append(errs, e.groups.close())
	}
	if e.home != nil {
		errs = append(errs, e.home.remove())
	}
	if e.binary != nil {
		_ = e.binary.Close()
	}
	return errors.Join(errs...)
}

// add registers a box unless the engine is closed.
func (e *Engine) add(b *Box) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	e.boxes[b], e.names[b.id] = struct{}{}, true
	return nil
}

// claim reserves a sandbox id until release.
func (e *Engine) claim(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return ErrClosed
	case e.names[id]:
		return fmt.Errorf("isolation: a sandbox %q exists", id)
	}
	e.names[id] = true
	return nil
}

func (e *Engine) release(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.names, id)
}

func (e *Engine) forget(b *Box) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.boxes, b)
	delete(e.names, b.id)
}

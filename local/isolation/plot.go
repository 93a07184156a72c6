//go:build linux

package isolation

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"
)

// plot is what a sandbox needs of this machine before it has a process, apart
// from its limits: host ids and a place to write.
type plot struct {
	ids   *idRange
	disk  *disk
	limit Limit
}

// free gives everything back.
func (p *plot) free() error {
	var err error
	if p.disk != nil && p.disk.layer {
		err = settleLayer(p.disk.dir, p.ids)
	} else if p.disk != nil {
		err = p.disk.close()
	}
	if p.ids != nil {
		p.ids.free()
	}
	return err
}

// plotPool keeps seeds of the default size ready: making a file system takes
// longer than starting a sandbox may, and so does starting a process.
type plotPool struct {
	engine *Engine
	ready  chan *seed
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu sync.Mutex
	// noImages says why no file system can be made for each sandbox.
	noImages error
	last     int
}

// poolDelay keeps the first plots from competing with a program that wants
// only one sandbox, at once.
const poolDelay = 150 * time.Millisecond

// refillDelay keeps the next plot from competing with the start that took one.
const refillDelay = 5 * time.Millisecond

// failedDelay is the wait after a failure, as of descriptors or memory, that may
// pass.
const failedDelay = 5 * time.Second

func newPlotPool(e *Engine, size int) *plotPool {
	ctx, stop := context.WithCancel(context.Background())
	p := &plotPool{engine: e, ready: make(chan *seed, size), stop: stop}
	if e.mode != Root {
		p.noImages = errOrdinaryDisk
	}
	if size > 0 {
		p.done.Go(func() { p.fill(ctx) })
	}
	return p
}

var errOrdinaryDisk = errors.New("only root can mount a file system for each sandbox")

func (p *plotPool) fill(ctx context.Context) {
	// The first sandbox would wait for it; what it fails with is told to that one.
	_, _ = p.engine.skeleton.dir()
	for wait := poolDelay; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		x, err := p.sow(ctx)
		if err != nil {
			if ctx.Err() == nil {
				p.engine.log.Warn("no sandbox can be prepared in advance for now", "error", err)
			}
			wait = failedDelay
			continue
		}
		wait = refillDelay
		select {
		case p.ready <- x:
		case <-ctx.Done():
			_ = x.free()
			return
		}
	}
}

// sow makes a seed: a plot, and process 1 where the machine lets it start.
func (p *plotPool) sow(ctx context.Context) (*seed, error) {
	x, err := p.makeReady(ctx, DefaultDiskMB*mebibyte)
	if err != nil {
		return nil, err
	}
	s := &seed{plot: x}
	spec := Spec{ID: "ready-" + p.name()}.withDefaults()
	if err := s.start(p.engine, spec); err != nil {
		// The sandbox that gets this plot says what refused.
		p.engine.log.Info("no process waits for the next sandbox", "error", err)
		return s, nil
	}
	if err := p.engine.stage(s, spec); err != nil {
		_ = s.free()
		return nil, err
	}
	return s, nil
}

// makeReady makes a plot with a file system, or without one where that fails.
func (p *plotPool) makeReady(ctx context.Context, size int64) (*plot, error) {
	if p.imageError() == nil {
		d, err := makeDisk(ctx, p.engine.home.path, size)
		if err == nil {
			return p.finish(&plot{disk: d, limit: Limit{Enforced: true}})
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p.engine.log.Info("disks are watched, not enforced", "error", err)
		// Only the usual size tells something about the machine.
		if size == DefaultDiskMB*mebibyte {
			p.setImageError(err)
		}
	}
	return p.make(size)
}

// make makes a plot that is a plain directory.
func (p *plotPool) make(size int64) (*plot, error) {
	dir, err := p.engine.home.dir(p.name())
	if err != nil {
		return nil, err
	}
	why := "watched"
	if err := p.imageError(); err != nil {
		why += ": " + err.Error()
	}
	return p.finish(&plot{disk: &disk{dir: dir, size: size}, limit: Limit{Why: why}})
}

func (p *plotPool) finish(x *plot) (*plot, error) {
	x.limit.Name, x.limit.Value = "disk", strconv.FormatInt(x.disk.size, 10)
	id := -1
	if p.engine.mode == Root {
		ids, err := p.engine.ids.take()
		if err != nil {
			return nil, errors.Join(err, x.free())
		}
		x.ids, id = ids, ids.base
	}
	if err := x.disk.prepare(len(layers("", p.engine.mode)), id); err != nil {
		return nil, errors.Join(err, x.free())
	}
	return x, nil
}

// take gives what a sandbox needs: from the pool where one of its kind is ready;
// made now, with a disk of its own, where its kind is never in the pool.
func (p *plotPool) take(ctx context.Context, spec Spec, t Template) (*seed, error) {
	size, hidden := int64(spec.DiskMB)*mebibyte, t.hidden()
	if spec.Layer != "" {
		return p.layer(spec.Layer, size)
	}
	// The roots in the pool are those of templates without layers.
	if !spec.hasDefaultLimits() || len(t.Layers) > 0 {
		x, err := p.makeReady(ctx, size)
		return &seed{plot: x}, err
	}
	select {
	case s := <-p.ready:
		if s.hidden != nil && !slices.Equal(s.hidden, hidden) {
			return p.exchange(ctx, s, size)
		}
		return s, nil
	default:
		return p.bare(size)
	}
}

// exchange gives up a seed whose root is another template's: a disk that lies in
// one root cannot be put into another.
func (p *plotPool) exchange(ctx context.Context, s *seed, size int64) (*seed, error) {
	if err := s.free(); err != nil {
		return nil, err
	}
	x, err := p.makeReady(ctx, size)
	return &seed{plot: x}, err
}

// bare is a seed without a process.
func (p *plotPool) bare(size int64) (*seed, error) {
	x, err := p.make(size)
	if err != nil {
		return nil, err
	}
	return &seed{plot: x}, nil
}

// layer is a seed that writes to a directory of somebody else's.
func (p *plotPool) layer(dir string, size int64) (*seed, error) {
	x, err := p.finish(&plot{disk: &disk{dir: dir, size: size, layer: true}, limit: Limit{Why: "watched"}})
	if err != nil {
		return nil, err
	}
	return &seed{plot: x}, nil
}

func (p *plotPool) name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	return strconv.Itoa(p.last)
}

func (p *plotPool) imageError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.noImages
}

func (p *plotPool) setImageError(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noImages = err
}

func (p *plotPool) close() error {
	p.stop()
	p.done.Wait()
	var errs []error
	for {
		select {
		case x := <-p.ready:
			errs = append(errs, x.free())
		default:
			return errors.Join(errs...)
		}
	}
}

// DiskReady tells whether the next sandbox of the default size gets a disk
// whose limit is enforced.
func (e *Engine) DiskReady() bool {
	return len(e.plots.ready) > 0 && e.plots.imageError() == nil
}

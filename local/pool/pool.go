// Package pool keeps a few things ready that take long to make.
package pool

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Options configure a Pool. Make and Drop are required.
type Options[T any] struct {
	// Size is how many are kept ready; 0 or less = none.
	Size int
	// Make makes one. It is called by one goroutine at a time.
	Make func(context.Context) (T, error)
	// Drop frees one that nobody will take any more.
	Drop func(T)
	// Fresh tells whether one is still of use; nil = always.
	Fresh func(T) bool
	// Pause comes before each is made, so that whoever took the last is not
	// disturbed at once; 0 is 100 ms.
	Pause time.Duration
	// Retry is the wait after a failure, which doubles up to 32 times that; 0 is 1 s.
	Retry time.Duration
	// Look is how often those that wait are looked at; 0 is 10 s.
	Look time.Duration
	// Log is told of failures; nil is silent.
	Log *slog.Logger
}

// Pool hands out what it has ready. Make it with New; it makes nothing before
// Start.
type Pool[T any] struct {
	opt    Options[T]
	ctx    context.Context
	cancel context.CancelFunc
	kick   chan struct{}
	work   sync.WaitGroup

	mu      sync.Mutex
	ready   []T
	started bool
	closed  bool
}

// State is what a pool has.
type State struct {
	// Size is how many it keeps, Ready how many it has now.
	Size  int `json:"size"`
	Ready int `json:"ready"`
	// Started: it is filled.
	Started bool `json:"started"`
}

// New makes a pool that is empty.
func New[T any](o Options[T]) *Pool[T] {
	if o.Pause == 0 {
		o.Pause = 100 * time.Millisecond
	}
	if o.Retry == 0 {
		o.Retry = time.Second
	}
	if o.Look == 0 {
		o.Look = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pool[T]{opt: o, kick: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Start lets the pool fill itself from now on. Calling it again does nothing.
func (p *Pool[T]) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started || p.closed || p.opt.Size <= 0 {
		return
	}
	p.started = true
	p.work.Go(p.fill)
}

// Take gives one that is ready and fresh; ok false = there is none.
func (p *Pool[T]) Take() (x T, ok bool) {
	defer p.wake()
	for {
		p.mu.Lock()
		if len(p.ready) == 0 {
			p.mu.Unlock()
			return x, false
		}
		x, p.ready = p.ready[0], p.ready[1:]
		p.mu.Unlock()
		if p.fresh(x) {
			return x, true
		}
		p.opt.Drop(x)
	}
}

// State tells what it has.
func (p *Pool[T]) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return State{Size: max(p.opt.Size, 0), Ready: len(p.ready), Started: p.started}
}

// Close drops what is ready and waits for what is being made.
func (p *Pool[T]) Close() {
	p.mu.Lock()
	p.closed = true
	left := p.ready
	p.ready = nil
	p.mu.Unlock()
	p.cancel()
	p.work.Wait()
	for _, x := range left {
		p.opt.Drop(x)
	}
}

func (p *Pool[T]) wake() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

func (p *Pool[T]) fresh(x T) bool { return p.opt.Fresh == nil || p.opt.Fresh(x) }

// backoff bounds how far the wait after failures grows.
const backoff = 32

func (p *Pool[T]) fill() {
	wait, failures := p.opt.Pause, 0
	for p.sleep(wait) {
		wait = p.opt.Pause
		p.dropStale()
		if p.full() {
			if !p.idle() {
				return
			}
			continue
		}
		x, err := p.opt.Make(p.ctx)
		switch {
		case p.ctx.Err() != nil:
			if err == nil {
				p.opt.Drop(x)
			}
			return
		case err != nil:
			p.opt.Log.Info("nothing can be made ready in advance for now", "error", err)
			wait = p.opt.Retry * time.Duration(min(1<<min(failures, 10), backoff))
			failures++
		default:
			failures = 0
			p.put(x)
		}
	}
}

// put adds one, or drops it after Close.
func (p *Pool[T]) put(x T) {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.ready = append(p.ready, x)
	}
	p.mu.Unlock()
	if closed {
		p.opt.Drop(x)
	}
}

func (p *Pool[T]) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ready) >= p.opt.Size
}

// dropStale drops those that are of no use any more.
func (p *Pool[T]) dropStale() {
	p.mu.Lock()
	var stale, kept []T
	for _, x := range p.ready {
		if p.fresh(x) {
			kept = append(kept, x)
		} else {
			stale = append(stale, x)
		}
	}
	p.ready = kept
	p.mu.Unlock()
	for _, x := range stale {
		p.opt.Drop(x)
	}
}

// sleep waits; false = the pool is closed.
func (p *Pool[T]) sleep(d time.Duration) bool {
	select {
	case <-p.ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// idle waits until one is taken, or for a look; false = the pool is closed.
func (p *Pool[T]) idle() bool {
	select {
	case <-p.ctx.Done():
		return false
	case <-p.kick:
	case <-time.After(p.opt.Look):
	}
	return true
}

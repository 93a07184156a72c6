package native

import (
	"context"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// clock is one named limit: a timer that ends a ctx.
type clock struct {
	name   string
	d      time.Duration
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	last  time.Time // start or last reset
	over  bool      // fired or disarmed
	timer *time.Timer
}

func startClock(name string, d time.Duration, cancel context.CancelCauseFunc) *clock {
	c := &clock{name: name, d: d, cancel: cancel, last: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(d, c.fire)
	return c
}

// reset only notes the time: moving the timer at every chunk would cost more
// than letting it wake up once too early.
func (c *clock) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
}

func (c *clock) disarm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.timer.Stop()
}

func (c *clock) fire() {
	c.mu.Lock()
	left := c.d - time.Since(c.last)
	due := !c.over && left <= 0
	switch {
	case due:
		c.over = true
	case !c.over:
		c.timer.Reset(left)
	}
	c.mu.Unlock()
	if due {
		c.cancel(transport.Timeout{Clock: c.name, After: c.d})
	}
}

// Limit starts a named clock on ctx.
func (h *Host) Limit(ctx context.Context, name string, d time.Duration) (limited context.Context, reset, disarm func()) {
	if d <= 0 {
		return ctx, func() {}, func() {}
	}
	limited, cancel := branch(ctx)
	c := startClock(name, d, cancel)
	return limited, c.reset, c.disarm
}

// Later is a Limit whose clock begins with start.
func (h *Host) Later(ctx context.Context, name string, d time.Duration) (limited context.Context, start, disarm func()) {
	if d <= 0 {
		return ctx, func() {}, func() {}
	}
	limited, cancel := branch(ctx)
	l := &later{begin: func() *clock { return startClock(name, d, cancel) }}
	return limited, l.start, l.disarm
}

// later is a clock that may have begun.
type later struct {
	mu    sync.Mutex
	begin func() *clock // nil when it has begun or never will
	clock *clock
}

func (l *later) start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begin != nil {
		l.clock, l.begin = l.begin(), nil
	}
}

func (l *later) disarm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begin = nil; l.clock != nil {
		l.clock.disarm()
	}
}

// Detached is a ctx that the end of ctx does not reach, under the cleanup clock.
func (h *Host) Detached(ctx context.Context, d time.Duration) (detached context.Context, disarm func()) {
	detached, _, disarm = h.Limit(context.WithoutCancel(ctx), transport.ClockCleanup, d)
	return detached, disarm
}

// branched is a ctx that ends with its parent but is not held by it.
type branched struct {
	context.Context
	parent context.Context
	cancel context.CancelCauseFunc
}

// Err passes the parent's end on at once, so that nobody sees a live branch of a
// dead parent.
func (b *branched) Err() error {
	if b.Context.Err() == nil && b.parent.Err() != nil {
		b.cancel(context.Cause(b.parent))
	}
	return b.Context.Err()
}

// Deadline is the parent's.
func (b *branched) Deadline() (time.Time, bool) { return b.parent.Deadline() }

// branch makes a ctx for a Limit. It has no end of its own that would release it
// (a body may live on it), so an ordinary child would stay registered in a
// parent that lives as long as the program: each call would leak one. Here the
// parent knows the branch weakly, and forgets it when nobody holds it any more.
func branch(parent context.Context) (context.Context, context.CancelCauseFunc) {
	if parent.Done() == nil {
		return context.WithCancelCause(parent)
	}
	inner, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	b := &branched{Context: inner, parent: parent, cancel: cancel}
	held := weak.Make(b)
	stop := context.AfterFunc(parent, func() {
		if b := held.Value(); b != nil {
			b.cancel(context.Cause(b.parent))
		}
	})
	runtime.AddCleanup(b, func(stop func() bool) { stop() }, stop)
	return b, cancel
}

// Sleep waits for d; ctx ends it early, with the cause.
func (h *Host) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

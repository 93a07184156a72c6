package engine

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// timer is one named clock of an operation.
type timer struct {
	o      *operation
	scope  *scope
	id     uint32
	d      time.Duration
	turn   uint64 // in which it was set last
	fire   func()
	begun  bool
	active bool
}

// Limit starts a named clock on ctx.
func (h *host) Limit(ctx context.Context, name string, d time.Duration) (limited context.Context, reset, disarm func()) {
	if d <= 0 {
		return ctx, func() {}, func() {}
	}
	limited, cancel := context.WithCancelCause(ctx)
	t := h.timer(d, func() { cancel(transport.Timeout{Clock: name, After: d}) })
	t.begin()
	return limited, t.reset, t.clear
}

// Later is a Limit whose clock begins with start.
func (h *host) Later(ctx context.Context, name string, d time.Duration) (limited context.Context, start, disarm func()) {
	if d <= 0 {
		return ctx, func() {}, func() {}
	}
	limited, cancel := context.WithCancelCause(ctx)
	t := h.timer(d, func() { cancel(transport.Timeout{Clock: name, After: d}) })
	return limited, t.begin, t.clear
}

// Sleep waits for d; ctx ends it early, with the cause.
func (h *host) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil || d <= 0 {
		return context.Cause(ctx)
	}
	over := false
	var sleeper *task
	t := h.timer(d, func() {
		over = true
		h.e.ready(sleeper)
	})
	t.begin()
	defer t.clear()
	return h.until(ctx, &sleeper, func() bool { return over })
}

func (h *host) timer(d time.Duration, fire func()) *timer {
	return &timer{o: h.o, scope: h.e.current.scope, id: h.o.stream(), d: d, fire: fire}
}

// begin starts the timer, once.
func (t *timer) begin() {
	if t.begun {
		return
	}
	t.begun, t.active = true, true
	t.o.timers[t.id] = t
	t.set(true)
}

// Detached is a ctx that the end of ctx does not reach, under the cleanup clock.
func (h *host) Detached(ctx context.Context, d time.Duration) (detached context.Context, disarm func()) {
	detached, _, disarm = h.Limit(context.WithoutCancel(ctx), transport.ClockCleanup, d)
	return detached, disarm
}

func (t *timer) set(fresh bool) {
	t.turn = t.o.e.turn
	t.o.e.emit(Out{Op: t.o.id, Stream: t.id, Kind: TimerSet, After: t.d, Fresh: fresh})
}

// reset tells the host once a turn: within one turn no time passes.
func (t *timer) reset() {
	if t.active && t.turn != t.o.e.turn {
		t.set(false)
	}
}

func (t *timer) clear() {
	t.begun = true // it never begins any more
	if t.active {
		t.active = false
		delete(t.o.timers, t.id)
		t.o.e.emit(Out{Op: t.o.id, Stream: t.id, Kind: TimerClear})
	}
}

func (o *operation) timerFired(id uint32) {
	if t := o.timers[id]; t != nil {
		t.active = false
		delete(o.timers, id)
		t.fire()
	}
}

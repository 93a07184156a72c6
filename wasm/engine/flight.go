package engine

import (
	"context"
	"slices"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// flight is one call that several tasks, of any operations, wait for.
type flight struct {
	key     string
	leader  *operation
	waiters []*task
	cancel  context.CancelCauseFunc
	done    bool
	value   any
	err     error
}

// Flight runs fn once for all concurrent callers of key.
func (h *host) Flight(ctx context.Context, key string, fn func(context.Context) (any, error)) (any, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := h.e.flights[key]
	if f == nil {
		f = h.lead(ctx, key, fn)
	}
	t := h.e.current
	f.waiters = append(f.waiters, t)
	for !f.done && ctx.Err() == nil {
		h.e.park(ctx)
	}
	if f.done {
		return f.value, f.err
	}
	h.e.leave(f, t)
	return nil, context.Cause(ctx)
}

// lead starts the flight as a task of the first caller's operation, which is not
// done before the flight is.
func (h *host) lead(ctx context.Context, key string, fn func(context.Context) (any, error)) *flight {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f := &flight{key: key, leader: h.o, cancel: cancel}
	h.e.flights[key] = f
	s := &scope{owner: "flight"}
	h.e.spawn(h.o, s, func() {
		f.value, f.err = contain(func() (any, error) { return fn(own) })
		f.done = true
		h.e.forget(f)
		cancel(nil)
		h.o.closeScope(s)
		for _, w := range f.waiters {
			h.e.ready(w)
		}
	})
	return f
}

// leave ends the flight with its last waiter, and frees the key at once: who
// comes next must not join a call that is being cancelled.
func (e *Engine) leave(f *flight, t *task) {
	f.waiters = slices.DeleteFunc(f.waiters, func(x *task) bool { return x == t })
	if len(f.waiters) > 0 {
		return
	}
	e.forget(f)
	f.cancel(transport.ErrNobodyWaits)
	e.touch(f.leader)
}

func (e *Engine) forget(f *flight) {
	if e.flights[f.key] == f {
		delete(e.flights, f.key)
	}
}

package engine

import (
	"context"
	"slices"
)

// task is one coroutine of an operation: its root, a child of Par, a flight it
// leads, or the sender of a request body.
type task struct {
	op     *operation
	scope  *scope
	on     *coroutine
	body   func()
	queued bool
	dead   bool
	ctx    context.Context // of the wait it is parked in; nil while it runs
}

// scope owns what a piece of work opens: the operation itself, or a flight. When
// the work ends, what it forgot is closed. Scopes are told apart by address, so
// the type must not be empty.
type scope struct{ owner string }

// park waits until somebody makes the current task ready, or ctx ends.
func (e *Engine) park(ctx context.Context) {
	t := e.current
	t.ctx = ctx
	t.on.yield(struct{}{})
	t.ctx = nil
}

// ready queues t once.
func (e *Engine) ready(t *task) {
	if t != nil && !t.queued && !t.dead {
		t.queued = true
		e.queue = append(e.queue, t)
	}
}

// spawn makes a task; it starts when the queue reaches it. body must not panic.
func (e *Engine) spawn(o *operation, s *scope, body func()) *task {
	t := &task{op: o, scope: s, on: e.coroutine(), body: body}
	o.tasks = append(o.tasks, t)
	e.ready(t)
	return t
}

func (e *Engine) resume(t *task) {
	t.queued = false
	e.current = t
	over := t.on.run(t)
	e.current = nil
	if !over {
		return
	}
	e.keep(t.on)
	t.on = nil
	t.dead = true
	o := t.op
	o.tasks = slices.DeleteFunc(o.tasks, func(x *task) bool { return x == t })
	if len(o.tasks) == 0 {
		delete(e.ops, o.id)
		e.emit(Out{Op: o.id, Kind: Done})
	}
}

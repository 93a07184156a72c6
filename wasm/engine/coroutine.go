package engine

import "iter"

// coroutine runs tasks, one after the other. A new one starts on a small stack
// that is copied each time it grows; one that is used again has grown already.
type coroutine struct {
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	task  *task // nil when its task is over
}

func newCoroutine() *coroutine {
	c := &coroutine{}
	c.next, _ = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		for c.task != nil {
			c.task.body()
			c.task = nil
			yield(struct{}{})
		}
	})
	return c
}

// run goes on with t until it waits, or is over.
func (c *coroutine) run(t *task) (over bool) {
	c.task = t
	c.next()
	return c.task == nil
}

// coroutine gives one without a task: the one that was used last, if there is one.
func (e *Engine) coroutine() *coroutine {
	n := len(e.spare)
	if n == 0 {
		return newCoroutine()
	}
	c := e.spare[n-1]
	e.spare = e.spare[:n-1]
	return c
}

// keep puts a coroutine by, or ends it.
func (e *Engine) keep(c *coroutine) {
	if len(e.spare) < e.options.Spare {
		e.spare = append(e.spare, c)
		return
	}
	c.next()
}

// Close ends the coroutines that were put by. It is for an engine without live
// operations.
func (e *Engine) Close() {
	for _, c := range e.spare {
		c.next()
	}
	e.spare = nil
}

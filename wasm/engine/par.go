package engine

import "context"

// parallel is one Par: its children are tasks of the same operation.
type parallel struct {
	h      *host
	ctx    context.Context
	cancel context.CancelCauseFunc
	fn     func(context.Context, int) error
	parent *task

	started, running int
	err              error
}

// Par runs fn(0) to fn(n-1), at most limit at a time; limit <= 0 is no limit.
func (h *host) Par(ctx context.Context, limit, n int, fn func(ctx context.Context, i int) error) error {
	if limit <= 0 {
		limit = n
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &parallel{h: h, ctx: inner, cancel: cancel, fn: fn, parent: h.e.current}
	for {
		for p.running < limit && p.started < n && p.err == nil && ctx.Err() == nil {
			p.start()
		}
		if p.running == 0 {
			break
		}
		// The children see the end of ctx by themselves; the parent joins them.
		h.e.park(context.Background())
	}
	if p.err == nil && p.started < n {
		return context.Cause(ctx)
	}
	return p.err
}

func (p *parallel) start() {
	i := p.started
	p.started++
	p.running++
	p.h.e.spawn(p.h.o, p.parent.scope, func() {
		_, err := contain(func() (any, error) { return nil, p.fn(p.ctx, i) })
		if err != nil && p.err == nil {
			p.err = err
			p.cancel(err)
		}
		p.running--
		p.h.e.ready(p.parent)
	})
}

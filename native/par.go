package native

import (
	"context"
	"sync"
)

// Par runs fn(0) to fn(n-1), at most limit at a time; limit <= 0 is no limit.
func (h *Host) Par(ctx context.Context, limit, n int, fn func(ctx context.Context, i int) error) error {
	if limit <= 0 || limit > n {
		limit = n
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &parallel{ctx: inner, cancel: cancel, n: n, fn: fn}
	var workers sync.WaitGroup
	for range limit {
		workers.Go(p.work)
	}
	workers.Wait()
	if p.err == nil && p.next < n {
		return context.Cause(ctx)
	}
	return p.err
}

// parallel is one Par: what is left to do, and the first error.
type parallel struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	n      int
	fn     func(context.Context, int) error

	mu   sync.Mutex
	next int
	err  error
}

func (p *parallel) work() {
	for i, ok := p.take(); ok; i, ok = p.take() {
		_, err := contain(func() (any, error) { return nil, p.fn(p.ctx, i) })
		if err != nil {
			p.fail(err)
		}
	}
}

func (p *parallel) take() (i int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= p.n || p.err != nil || p.ctx.Err() != nil {
		return 0, false
	}
	p.next++
	return p.next - 1, true
}

func (p *parallel) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
		p.cancel(err)
	}
}

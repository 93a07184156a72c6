package native

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// flights are the running calls by key. The zero value is ready.
type flights struct {
	mu    sync.Mutex
	byKey map[string]*flight
	tails map[*flight]struct{} // nobody waits for them: they clean up
}

// flight is one call with its callers.
type flight struct {
	waiters int
	cancel  context.CancelCauseFunc
	over    bool
	done    chan struct{}
	value   any
	err     error
}

// Flight runs fn once for all concurrent callers of key.
func (h *Host) Flight(ctx context.Context, key string, fn func(context.Context) (any, error)) (any, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := h.flights.join(ctx, key, fn)
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		h.flights.leave(key, f)
		return nil, context.Cause(ctx)
	}
}

func (fs *flights) join(ctx context.Context, key string, fn func(context.Context) (any, error)) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.byKey[key]; f != nil {
		f.waiters++
		return f
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f := &flight{waiters: 1, cancel: cancel, done: make(chan struct{})}
	if fs.byKey == nil {
		fs.byKey = map[string]*flight{}
	}
	fs.byKey[key] = f
	go func() {
		f.value, f.err = contain(func() (any, error) { return fn(own) })
		fs.forget(key, f)
		cancel(nil)
		close(f.done)
	}()
	return f
}

// leave ends the flight with its last waiter, and frees the key at once: who
// comes next must not join a call that is being cancelled.
func (fs *flights) leave(key string, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.waiters--
	if f.waiters > 0 {
		return
	}
	if fs.byKey[key] == f {
		delete(fs.byKey, key)
	}
	if !f.over {
		if fs.tails == nil {
			fs.tails = map[*flight]struct{}{}
		}
		fs.tails[f] = struct{}{}
	}
	f.cancel(transport.ErrNobodyWaits)
}

// drain waits for what cleans up after callers that have left, for at most the
// cleanup clock.
func (fs *flights) drain() {
	fs.mu.Lock()
	tails := slices.Collect(maps.Keys(fs.tails))
	fs.mu.Unlock()
	limit := time.After(cleanupClock)
	for _, f := range tails {
		select {
		case <-f.done:
		case <-limit:
			return
		}
	}
}

func (fs *flights) forget(key string, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.over = true
	delete(fs.tails, f)
	if fs.byKey[key] == f {
		delete(fs.byKey, key)
	}
}

// contain turns a panic of fn into an error.
func contain(fn func() (any, error)) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, transport.Contained(p)
		}
	}()
	return fn()
}

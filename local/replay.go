//go:build linux

package local

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/local/api"
)

// replayCount is how many creates are remembered by their Idempotency-Key.
const replayCount = 1000

// replays makes creates with the same Idempotency-Key one create (e2b.md 10).
type replays struct {
	mu    sync.Mutex
	calls map[string]*replay
	order []string
}

// replay is one create and its answer, which stands when done is closed.
type replay struct {
	digest [sha256.Size]byte
	done   chan struct{}
	made   *api.Sandbox
	err    error
}

func newReplays() *replays { return &replays{calls: map[string]*replay{}} }

// once runs fn for r, or gives the answer of an earlier request with the same
// key, waiting for it if need be. A create that failed is forgotten, so that it
// can be tried again. With a key fn goes on when the client goes away: it may
// come back for the answer.
func (p *replays) once(r *http.Request, body []byte, fn func(context.Context) (*api.Sandbox, error)) (*api.Sandbox, error) {
	keys := r.Header["Idempotency-Key"]
	if len(keys) == 0 {
		return fn(r.Context())
	}
	if err := api.CheckIdempotencyKey(keys[0]); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(append([]byte(r.URL.Path+"\n"), body...))
	call, first := p.enter(keys[0], digest)
	if call.digest != digest {
		fault := api.Faultf(http.StatusUnprocessableEntity, "the Idempotency-Key was used before with another request")
		fault.Slug = "idempotency_request_mismatch"
		return nil, fault
	}
	if !first {
		return call.wait(r.Context())
	}
	call.made, call.err = fn(context.WithoutCancel(r.Context()))
	if call.err != nil {
		p.forget(keys[0])
	}
	close(call.done)
	return call.made, call.err
}

func (c *replay) wait(ctx context.Context) (*api.Sandbox, error) {
	select {
	case <-c.done:
		return c.made, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enter returns the call of a key; first is true for the one who makes it.
func (p *replays) enter(key string, digest [sha256.Size]byte) (call *replay, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if call := p.calls[key]; call != nil {
		return call, false
	}
	if len(p.order) == replayCount {
		delete(p.calls, p.order[0])
		p.order = append(p.order[:0], p.order[1:]...)
	}
	call = &replay{digest: digest, done: make(chan struct{})}
	p.calls[key] = call
	p.order = append(p.order, key)
	return call, true
}

func (p *replays) forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, key)
	for i, k := range p.order {
		if k == key {
			p.order = append(p.order[:i], p.order[i+1:]...)
			return
		}
	}
}

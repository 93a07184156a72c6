package loop

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// bodies are those that were handed over and not read to their end. They have a
// mutex of their own: an operation that looks for one runs under the loop's.
type bodies struct {
	mu    sync.Mutex
	byKey map[key]*handed
}

func (b *bodies) put(k key, h *handed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byKey[k] = h
}

func (b *bodies) get(k key) *handed {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byKey[k]
}

func (b *bodies) delete(k key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.byKey, k)
}

func (b *bodies) close() {
	b.mu.Lock()
	all := slices.Collect(maps.Values(b.byKey))
	b.mu.Unlock()
	for _, h := range all {
		_ = h.Close()
	}
}

// handed is a body that the engine gave to the host. Its stream arrives from the
// goroutine of the exchange.
type handed struct {
	x      *exchange
	arrive chan transport.Stream
	unlink func() bool

	once   sync.Once
	stream transport.Stream
}

func newHanded(x *exchange) *handed {
	h := &handed{x: x, arrive: make(chan transport.Stream, 1)}
	h.unlink = context.AfterFunc(x.caller, func() { x.cancel(context.Cause(x.caller)) })
	return h
}

// hand delivers the stream to whoever reads it.
func (l *Loop) hand(k key, s transport.Stream, cancel context.CancelCauseFunc) {
	h := l.bodies.get(k)
	if h == nil {
		cancel(ErrClosed)
		_ = s.Close()
		return
	}
	h.arrive <- s
}

func (h *handed) wait() transport.Stream {
	h.once.Do(func() { h.stream = <-h.arrive })
	return h.stream
}

func (h *handed) Read(p []byte) (int, error) {
	n, err := h.wait().Read(p)
	if err != nil {
		h.forget()
	}
	return n, err
}

func (h *handed) Close() error {
	err := h.wait().Close()
	h.forget()
	return err
}

func (h *handed) forget() {
	h.unlink()
	h.x.l.bodies.delete(h.x.k)
}

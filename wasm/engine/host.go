package engine

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Caller is what the host of an operation offers besides transport.Host: the
// caller at the other end, before the result.
type Caller interface {
	// Emit gives a value (an event).
	Emit(value any)
	// Output gives bytes of a channel.
	Output(channel uint8, b []byte)
	// Input waits for a piece of what the caller sends; io.EOF ends it. One task
	// of an operation reads it.
	Input(ctx context.Context) ([]byte, error)
}

// host is transport.Host for one operation. Its methods run inside tasks.
type host struct {
	e *Engine
	o *operation
}

// Rand fills b with random bytes.
func (h *host) Rand(b []byte) { h.e.options.Rand(b) }

// Now is the host's calendar time.
func (h *host) Now() time.Time { return h.e.options.Now() }

// Cache is shared by all operations of the engine.
func (h *host) Cache() transport.Cache { return &h.e.cache }

// Store is nil when the host has none.
func (h *host) Store() transport.Store {
	if !h.e.options.HasStore {
		return nil
	}
	return &store{h}
}

// Emit gives a value to the caller.
func (h *host) Emit(value any) { h.e.emit(Out{Op: h.o.id, Kind: Emit, Value: value}) }

// Output gives bytes to the caller.
func (h *host) Output(channel uint8, b []byte) {
	h.e.emit(Out{Op: h.o.id, Kind: Output, Channel: channel, Data: b})
}

// until parks the current task until ok, or until ctx ends; *who is whom to wake.
func (h *host) until(ctx context.Context, who **task, ok func() bool) error {
	*who = h.e.current
	defer func() { *who = nil }()
	for !ok() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h.e.park(ctx)
	}
	return nil
}

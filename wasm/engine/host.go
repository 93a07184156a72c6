package engine

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Emitter is what the host of an operation offers besides transport.Host: values
// for the caller before the result (an event, output of a command).
type Emitter interface{ Emit(value any) }

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

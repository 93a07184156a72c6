package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Func is an operation: the core's code, on the host of that operation.
type Func = func(ctx context.Context, h transport.Host) (any, error)

// operation is one call from the host.
type operation struct {
	e      *Engine
	id     uint32
	last   uint32 // stream ids count up
	cancel context.CancelCauseFunc
	tasks  []*task // in order of creation

	exchanges map[uint32]*exchange
	sockets   map[uint32]*socket
	timers    map[uint32]*timer
	requests  map[uint32]*storeRequest
	input     input
}

func (e *Engine) start(id uint32, fn Func) {
	ctx, cancel := context.WithCancelCause(context.Background())
	o := &operation{
		e: e, id: id, cancel: cancel,
		exchanges: map[uint32]*exchange{}, sockets: map[uint32]*socket{},
		timers: map[uint32]*timer{}, requests: map[uint32]*storeRequest{},
	}
	e.ops[id] = o
	s := &scope{owner: "operation"}
	e.spawn(o, s, func() {
		value, err := contain(func() (any, error) { return fn(ctx, &host{e: e, o: o}) })
		o.closeScope(s)
		e.emit(Out{Op: id, Kind: Result, Value: value, Err: err})
	})
}

func (o *operation) stream() uint32 {
	o.last++
	return o.last
}

// closeScope closes what the work of s has left open, oldest first.
func (o *operation) closeScope(s *scope) {
	for _, id := range sorted(o.exchanges) {
		if x := o.exchanges[id]; x != nil && x.scope == s {
			x.abort(transport.ErrNobodyWaits)
		}
	}
	for _, id := range sorted(o.sockets) {
		if k := o.sockets[id]; k.scope == s {
			k.Close()
		}
	}
	for _, id := range sorted(o.requests) {
		if r := o.requests[id]; r.scope == s {
			r.release()
		}
	}
	for _, id := range sorted(o.timers) {
		if t := o.timers[id]; t.scope == s {
			t.clear()
		}
	}
}

// sorted gives the ids of what is open, oldest first.
func sorted[T any](open map[uint32]*T) []uint32 {
	if len(open) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(open))
}

func orCanceled(err error) error {
	if err == nil {
		return context.Canceled
	}
	return err
}

package loop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
)

var errUnwanted = errors.New("the engine wants it no more")

// exchange performs one HTTP request.
type exchange struct {
	l       *Loop
	k       key
	caller  context.Context // of Run; a body that was handed over ends with it
	ctx     context.Context
	cancel  context.CancelCauseFunc
	request transport.Request
	pieces  chan []byte        // of the request body; closed at its end
	body    chan time.Duration // what is to become of a Bulk body: below zero, to the core
}

func newExchange(caller context.Context, l *Loop, k key, o engine.Out) *exchange {
	x := &exchange{
		l: l, k: k, caller: caller, request: *o.Request,
		pieces: make(chan []byte, 1), body: make(chan time.Duration, 1),
	}
	x.ctx, x.cancel = context.WithCancelCause(context.WithoutCancel(caller))
	if o.Pieces {
		x.request.Body.Next = x.piece
	}
	return x
}

func (x *exchange) take(o engine.Out) {
	switch o.Kind {
	case engine.HTTPBody:
		x.pieces <- o.Data // has room: one was asked for
	case engine.HTTPBodyEnd:
		close(x.pieces)
	case engine.BodyToHost:
		x.body <- o.Delivery.Idle
		delete(x.l.streams, x.k)
		x.l.bodies.put(x.k, newHanded(x))
	case engine.BodyToCore:
		x.body <- -1
	}
}

func (x *exchange) stop() { x.cancel(errUnwanted) }

// piece asks the engine for the next piece and waits for it.
func (x *exchange) piece(ctx context.Context) ([]byte, error) {
	x.l.event(x.event(engine.BodyWanted))
	select {
	case p, ok := <-x.pieces:
		if !ok {
			return nil, io.EOF
		}
		return p, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (x *exchange) event(kind engine.EventKind) engine.Event {
	return engine.Event{Op: x.k.op, Stream: x.k.stream, Kind: kind}
}

func (x *exchange) work() {
	r, err := x.l.host.Do(x.ctx, &x.request)
	if err != nil {
		x.over(err)
		return
	}
	head := x.event(engine.HTTPHead)
	head.Status, head.Header = r.Status, r.Header
	x.l.event(head)
	if x.request.Bulk && !x.toCore(r.Body) {
		return
	}
	x.over(x.pump(r.Body))
	r.Body.Close()
}

// toCore waits for what is to become of a Bulk body.
func (x *exchange) toCore(b transport.ResponseBody) bool {
	idle, ok := x.fate()
	switch {
	case !ok:
		b.Close()
	case idle < 0:
		return true
	default:
		x.l.hand(x.k, b.ToHost(idle), x.cancel)
	}
	return false
}

// fate prefers an order that was given to the end of ctx: who was promised a
// stream waits for it.
func (x *exchange) fate() (idle time.Duration, ok bool) {
	select {
	case idle = <-x.body:
		return idle, true
	case <-x.ctx.Done():
	}
	select {
	case idle = <-x.body:
		return idle, true
	default:
		return 0, false
	}
}

func (x *exchange) pump(b transport.ResponseBody) error {
	for {
		data, err := b.Next(x.ctx)
		if err != nil {
			return err
		}
		v := x.event(engine.HTTPChunk)
		v.Data = bytes.Clone(data) // the engine may look at it after the turn
		x.l.chunk(v)
	}
}

// over reports the end and forgets the exchange.
func (x *exchange) over(err error) {
	x.l.mu.Lock()
	defer x.l.mu.Unlock()
	x.cancel(errUnwanted)
	if x.l.streams[x.k] != x {
		return
	}
	delete(x.l.streams, x.k)
	v := x.event(engine.HTTPEnd)
	if !errors.Is(err, io.EOF) {
		v.Kind, v.Err = engine.HTTPError, err
	}
	x.l.engine.Event(v)
	x.l.perform()
}

package engine

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

var (
	errBodyClosed = errors.New("the body was closed")
	errHostReads  = errors.New("this body is delivered by the host")
)

// body is transport.ResponseBody of an exchange.
type body struct{ x *exchange }

// Next waits for the next chunk.
func (b *body) Next(ctx context.Context) ([]byte, error) {
	x := b.x
	x.takeBack()
	if x.closed {
		return nil, x.err
	}
	if x.bulk && !x.asked {
		x.asked = true
		x.h.e.emit(Out{Op: x.h.o.id, Stream: x.id, Kind: BodyToCore})
	}
	err := x.h.until(ctx, &x.reader, func() bool { return ctx.Err() == nil && (len(x.chunks) > 0 || x.err != nil) })
	if err != nil {
		x.abort(err)
		x.err = err // the body is dead, however it would have ended
		return nil, err
	}
	if len(x.chunks) > 0 {
		x.given, x.chunks = x.chunks[0], x.chunks[1:]
		x.loan = x.lent && len(x.chunks) == 0
		x.backlog -= len(x.given)
		return x.given, nil
	}
	x.abort(x.err)
	return nil, x.err
}

// Close aborts what has not been read.
func (b *body) Close() { b.x.abort(errBodyClosed) }

// takeBack ends the use of the last chunk; a copy makes room for the next one.
func (x *exchange) takeBack() {
	if x.given != nil && !x.loan {
		x.spare = x.given
	}
	x.given, x.loan = nil, false
}

// Deliver gives the body of a Bulk request to the host and waits until its
// caller has it.
func (b *body) Deliver(ctx context.Context, d transport.Delivery) (int64, error) {
	x := b.x
	if x.closed {
		return 0, x.err
	}
	if !x.bulk || x.asked {
		x.abort(transport.ErrNotBulk)
		return 0, transport.ErrNotBulk
	}
	x.asked = true
	x.h.e.emit(Out{Op: x.h.o.id, Stream: x.id, Kind: BodyToHost, Delivery: d})
	err := x.h.until(ctx, &x.deliverer, func() bool { return ctx.Err() == nil && x.err != nil })
	if err == nil && !errors.Is(x.err, io.EOF) {
		err = x.err
	}
	x.abort(err)
	return x.delivered, err
}

// ToHost gives the body of a Bulk request to the host.
func (b *body) ToHost(idle time.Duration) transport.Stream {
	x := b.x
	s := &stream{host: x.h, id: x.id}
	switch {
	case x.closed:
		s.err = x.err
	case !x.bulk || x.asked:
		s.err = transport.ErrNotBulk
		x.abort(s.err)
	default:
		x.h.e.emit(Out{Op: x.h.o.id, Stream: x.id, Kind: BodyToHost, Delivery: transport.Delivery{Idle: idle}})
		x.closed = true // the host's from now on
		delete(x.h.o.exchanges, x.id)
	}
	return s
}

// stream names a body that the host delivers. It lives outside the engine's one
// goroutine.
type stream struct {
	host   *host
	id     uint32
	mu     sync.Mutex
	err    error
	opened io.ReadCloser
}

// Read works only where the host can give the body to Go code outside the
// operation; an operation itself never reads it.
func (s *stream) Read(p []byte) (int, error) {
	r, err := s.open()
	if err != nil {
		return 0, err
	}
	return r.Read(p)
}

// Close ends the host's stream.
func (s *stream) Close() error {
	r, err := s.open()
	if err != nil {
		return nil //nolint:nilerr // nothing is open
	}
	return r.Close()
}

func (s *stream) open() (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	if s.opened == nil && s.host.e.options.Open != nil {
		s.opened = s.host.e.options.Open(s.host.o.id, s.id)
	}
	if s.opened == nil {
		return nil, errHostReads
	}
	return s.opened, nil
}

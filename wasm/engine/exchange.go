package engine

import (
	"context"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// exchange is one HTTP request and its answer.
type exchange struct {
	h      *host
	scope  *scope
	id     uint32
	reader *task // who waits for the head or a chunk
	upload *upload

	bulk   bool
	asked  bool // BodyToCore was said
	head   *transport.Response
	chunks [][]byte
	given  []byte // what the last Next returned
	spare  []byte // free for the next chunk
	lent   bool   // the last of chunks is the host's buffer
	loan   bool   // given is the host's buffer
	err    error  // how it ended; io.EOF when complete

	deliverer *task // who waits for the host to deliver the body
	delivered int64

	backlog int
	closed  bool
}

// Do sends r and waits for the head.
func (h *host) Do(ctx context.Context, r *transport.Request) (*transport.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	x := &exchange{h: h, scope: h.e.current.scope, id: h.o.stream(), bulk: r.Bulk}
	h.o.exchanges[x.id] = x
	sent := *r
	sent.Body.Next = nil
	h.e.emit(Out{Op: h.o.id, Stream: x.id, Kind: HTTPRequest, Request: &sent, Pieces: r.Body.Next != nil})
	if r.Body.Next != nil {
		x.sendPieces(r.Body.Next)
	}
	err := h.until(ctx, &x.reader, func() bool { return x.head != nil || x.err != nil })
	if x.head != nil && err == nil {
		x.head.Body = &body{x}
		return x.head, nil
	}
	if err == nil {
		err = x.err
	}
	if errors.Is(err, io.EOF) {
		err = &transport.NetError{Kind: transport.NetReset, Message: "the exchange ended without a head", Cause: io.ErrUnexpectedEOF}
	}
	x.abort(err)
	return nil, err
}

// exchangeEvent takes what came for an exchange.
func (o *operation) exchangeEvent(v Event) {
	x := o.exchanges[v.Stream]
	if x == nil || x.err != nil {
		return
	}
	switch v.Kind {
	case HTTPHead:
		x.head = &transport.Response{Status: v.Status, Header: v.Header}
	case HTTPChunk:
		x.keep(v.Data)
	case HTTPEnd:
		x.delivered = v.Bytes
		x.finish(io.EOF)
	case HTTPError:
		x.finish(orLost(v.Err))
	case BodyWanted:
		x.wanted()
		return
	}
	o.e.ready(x.reader)
	o.e.ready(x.deliverer)
}

func orLost(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return &transport.NetError{Kind: transport.NetOther, Message: "the exchange failed", Cause: err}
	}
	return err
}

// keep queues a chunk where it is; settleChunk copies it unless it is read
// within this turn, after which the buffer is the host's again.
func (x *exchange) keep(data []byte) {
	if len(data) == 0 {
		return
	}
	x.chunks = append(x.chunks, data)
	x.lent = true
	x.backlog += len(data)
}

// settleChunk ends the loan of a chunk: what nobody has read is copied, to where
// the last copy was. It tells whether a task still looks at the host's buffer.
func (o *operation) settleChunk(id uint32) (held bool) {
	x := o.exchanges[id]
	if x == nil || !x.lent {
		return false
	}
	x.lent = false
	if n := len(x.chunks); n > 0 {
		x.chunks[n-1] = append(x.spare[:0], x.chunks[n-1]...)
		x.spare = nil
		return false
	}
	return x.loan
}

// finish notes how the exchange ended. A body that is still being sent ends too.
func (x *exchange) finish(err error) {
	if x.err != nil {
		return
	}
	x.err = err
	x.stopUpload()
}

// abort forgets the exchange, and tells the host when it is still going on.
func (x *exchange) abort(cause error) {
	if x.closed {
		return
	}
	x.closed = true
	delete(x.h.o.exchanges, x.id)
	if x.err == nil {
		x.h.e.emit(Out{Op: x.h.o.id, Stream: x.id, Kind: HTTPAbort})
		x.finish(cause)
	}
	x.chunks, x.backlog = nil, 0
}

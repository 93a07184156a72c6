package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// upload sends a request body piece by piece, as a task of its own: the answer
// may come while it goes on.
type upload struct {
	x      *exchange
	sender *task
	wants  int // pieces that the host asked for and did not get
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// sendPieces starts the sender. Its ctx ends with the exchange.
func (x *exchange) sendPieces(next func(context.Context) ([]byte, error)) {
	u := &upload{x: x}
	u.ctx, u.cancel = context.WithCancelCause(context.Background())
	x.upload = u
	x.h.e.spawn(x.h.o, x.scope, func() {
		_, err := contain(func() (any, error) { return nil, u.run(next) })
		u.settle(err)
	})
}

// run sends pieces until io.EOF, which gives nil.
func (u *upload) run(next func(context.Context) ([]byte, error)) error {
	h := u.x.h
	for {
		if err := h.until(u.ctx, &u.sender, func() bool { return u.ctx.Err() == nil && u.wants > 0 }); err != nil {
			return err
		}
		piece, err := next(u.ctx)
		if u.ctx.Err() != nil {
			return context.Cause(u.ctx)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(piece) > 0 {
			u.wants--
			h.e.emit(Out{Op: h.o.id, Stream: u.x.id, Kind: HTTPBody, Data: bytes.Clone(piece)})
		}
	}
}

// settle ends the body: complete, or failed, which fails the exchange.
func (u *upload) settle(err error) {
	h := u.x.h
	if u.ctx.Err() != nil {
		return
	}
	u.cancel(nil)
	if err == nil {
		h.e.emit(Out{Op: h.o.id, Stream: u.x.id, Kind: HTTPBodyEnd})
		return
	}
	h.e.emit(Out{Op: h.o.id, Stream: u.x.id, Kind: HTTPAbort})
	u.x.finish(err)
	h.e.ready(u.x.reader)
}

func (x *exchange) wanted() {
	if x.upload != nil {
		x.upload.wants++
		x.h.e.ready(x.upload.sender)
	}
}

// stopUpload ends the ctx of a body that is still being made.
func (x *exchange) stopUpload() {
	if x.upload != nil && x.upload.ctx.Err() == nil {
		x.upload.cancel(errBodyClosed)
		x.h.e.touch(x.h.o)
	}
}

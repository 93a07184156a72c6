package engine

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// socket is one WebSocket.
type socket struct {
	h      *host
	scope  *scope
	id     uint32
	reader *task

	open     bool
	chosen   string // subprotocol
	closed   bool   // by this side
	messages []message
	backlog  int
	err      error // how the other side ended it; io.EOF when normally
}

type message struct {
	binary bool
	data   []byte
}

// Dial opens a WebSocket.
func (h *host) Dial(ctx context.Context, r *transport.SocketRequest) (transport.Socket, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s := &socket{h: h, scope: h.e.current.scope, id: h.o.stream()}
	h.o.sockets[s.id] = s
	asked := *r
	h.e.emit(Out{Op: h.o.id, Stream: s.id, Kind: SocketDial, Socket: &asked})
	err := h.until(ctx, &s.reader, func() bool { return s.open || s.err != nil })
	if err == nil && s.open {
		return s, nil
	}
	if err == nil {
		err = s.err
	}
	if errors.Is(err, io.EOF) {
		err = &transport.NetError{Kind: transport.NetOther, Message: "the peer closed the WebSocket at once"}
	}
	s.Close()
	return nil, err
}

func (o *operation) socketEvent(v Event) {
	s := o.sockets[v.Stream]
	if s == nil || s.err != nil {
		return
	}
	switch v.Kind {
	case SocketOpen:
		s.open, s.chosen = true, string(v.Data)
	case SocketText, SocketBinary:
		s.messages = append(s.messages, message{v.Kind == SocketBinary, bytes.Clone(v.Data)})
		s.backlog += len(v.Data)
	case SocketClosed:
		if s.err = v.Err; s.err == nil {
			s.err = io.EOF
		}
	}
	o.e.ready(s.reader)
}

// Send gives one message to the host, which sends in order.
func (s *socket) Send(ctx context.Context, binary bool, b []byte) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case s.closed:
		return errBodyClosed
	case s.err != nil:
		return s.err
	}
	kind := SendText
	if binary {
		kind = SendBinary
	}
	s.h.e.emit(Out{Op: s.h.o.id, Stream: s.id, Kind: kind, Data: bytes.Clone(b)})
	return nil
}

// Subprotocol is what the peer chose.
func (s *socket) Subprotocol() string { return s.chosen }

// Next waits for a message.
func (s *socket) Next(ctx context.Context) (binary bool, b []byte, err error) {
	err = s.h.until(ctx, &s.reader, func() bool {
		return ctx.Err() == nil && (len(s.messages) > 0 || s.err != nil || s.closed)
	})
	switch {
	case err != nil:
		s.Close()
		return false, nil, err
	case len(s.messages) > 0:
		m := s.messages[0]
		s.messages = s.messages[1:]
		s.backlog -= len(m.data)
		return m.binary, m.data, nil
	case s.err != nil:
		return false, nil, s.err
	}
	return false, nil, errBodyClosed
}

// Close ends the socket. It is idempotent.
func (s *socket) Close() {
	if s.closed {
		return
	}
	s.closed = true
	delete(s.h.o.sockets, s.id)
	s.messages, s.backlog = nil, 0
	if s.err == nil {
		s.h.e.emit(Out{Op: s.h.o.id, Stream: s.id, Kind: SocketClose})
	}
	s.h.e.ready(s.reader)
}

package loop

import (
	"context"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
)

// queuedMessages is how many messages the engine may send ahead of the network
// before the loop blocks it.
const queuedMessages = 1024

// socket performs one WebSocket.
type socket struct {
	l      *Loop
	k      key
	ctx    context.Context
	cancel context.CancelCauseFunc
	asked  *transport.SocketRequest
	sends  chan engine.Out
}

func newSocket(l *Loop, k key, asked *transport.SocketRequest) *socket {
	s := &socket{l: l, k: k, asked: asked, sends: make(chan engine.Out, queuedMessages)}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

func (s *socket) take(o engine.Out) { s.sends <- o }

// stop lets what was sent before the close go out first.
func (s *socket) stop() { close(s.sends) }

func (s *socket) event(kind engine.EventKind) engine.Event {
	return engine.Event{Op: s.k.op, Stream: s.k.stream, Kind: kind}
}

func (s *socket) work() {
	conn, err := s.l.host.Dial(s.ctx, s.asked)
	if err != nil {
		s.over(err)
		return
	}
	defer conn.Close()
	sent := make(chan struct{})
	go s.send(conn, sent)
	opened := s.event(engine.SocketOpen)
	opened.Data = []byte(conn.Subprotocol())
	s.l.event(opened)
	s.over(s.receive(conn))
	<-sent
}

func (s *socket) receive(conn transport.Socket) error {
	for {
		binary, data, err := conn.Next(s.ctx)
		if err != nil {
			return err
		}
		v := s.event(engine.SocketText)
		if binary {
			v.Kind = engine.SocketBinary
		}
		v.Data = data
		s.l.chunk(v)
	}
}

func (s *socket) send(conn transport.Socket, sent chan<- struct{}) {
	defer close(sent)
	defer s.cancel(errUnwanted) // the queue is closed: so is the socket
	for o := range s.sends {
		if conn.Send(s.ctx, o.Kind == engine.SendBinary, o.Data) != nil {
			return
		}
	}
}

// over reports the end, which also ends the sender.
func (s *socket) over(err error) {
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	s.cancel(errUnwanted)
	if s.l.streams[s.k] != s {
		return
	}
	s.l.stop(s.k)
	v := s.event(engine.SocketClosed)
	if !errors.Is(err, io.EOF) {
		v.Err = err
	}
	s.l.engine.Event(v)
	s.l.perform()
}

package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// dialJSON is the JSON of WS_DIAL.
type dialJSON struct {
	URL          string           `json:"url"`
	Headers      transport.Header `json:"headers"`
	Subprotocols []string         `json:"subprotocols"`
	MaxMessage   int64            `json:"max_message"`
}

// socket performs one WebSocket.
type socket struct {
	h       *Host
	k       key
	ctx     context.Context
	cancel  context.CancelCauseFunc
	asked   transport.SocketRequest
	invalid error

	sends  []frame.Frame // not sent yet; under the host's mutex
	closed bool
	wake   chan struct{} // sends or closed has changed
}

func newSocket(o *operation, k key, f frame.Frame) *socket {
	s := &socket{h: o.h, k: k, wake: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	var d dialJSON
	s.invalid = json.Unmarshal(f.Payload, &d)
	s.asked = transport.SocketRequest{URL: d.URL, Header: d.Headers, Subprotocols: d.Subprotocols, MaxMessage: d.MaxMessage}
	return s
}

func (s *socket) take(f frame.Frame) {
	f.Payload = append([]byte(nil), f.Payload...)
	s.sends = append(s.sends, f)
	s.notify()
}

// stop lets what was sent before the close go out first.
func (s *socket) stop() {
	s.closed = true
	s.notify()
}

func (s *socket) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *socket) work() {
	defer s.cancel(errUnwanted)
	if s.invalid != nil {
		s.over(s.invalid)
		return
	}
	stopped := make(chan struct{})
	var conn transport.Socket
	opened := make(chan struct{})
	go func() {
		defer close(stopped)
		s.send(opened, &conn)
	}()
	c, err := s.h.net.Dial(s.ctx, &s.asked)
	if err != nil {
		s.over(err)
		s.cancel(errUnwanted)
		<-stopped
		return
	}
	conn = c
	defer conn.Close()
	close(opened)
	s.h.report(s.k, s, frame.WSOpen, []byte(conn.Subprotocol()))
	s.over(s.receive(conn))
	<-stopped
}

func (s *socket) receive(conn transport.Socket) error {
	for s.h.await(s.k) {
		binary, data, err := conn.Next(s.ctx)
		if err != nil {
			return err
		}
		kind := frame.WSText
		if binary {
			kind = frame.WSBinary
		}
		s.h.report(s.k, s, kind, data)
	}
	<-s.ctx.Done() // what was sent before the close goes out
	return errUnwanted
}

// send sends in order until the socket is closed by either side. A close while
// the dial goes on ends the dial.
func (s *socket) send(opened <-chan struct{}, conn *transport.Socket) {
	defer s.cancel(errUnwanted)
	for {
		f, more := s.next()
		if f == nil && !more {
			return
		}
		if f == nil {
			select {
			case <-s.wake:
				continue
			case <-s.ctx.Done():
				return
			}
		}
		select {
		case <-opened:
		case <-s.ctx.Done():
			return
		}
		if (*conn).Send(s.ctx, f.Kind == frame.SendBinary, f.Payload) != nil {
			return
		}
	}
}

// next is the next frame to send; more tells whether others may follow.
func (s *socket) next() (f *frame.Frame, more bool) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if len(s.sends) == 0 {
		return nil, !s.closed
	}
	f, s.sends = &s.sends[0], s.sends[1:]
	return f, true
}

// over reports the end.
func (s *socket) over(err error) {
	if errors.Is(err, io.EOF) {
		s.h.finish(s.k, s, frame.WSClosed, nil)
		return
	}
	s.h.finish(s.k, s, frame.WSClosed, failureJSON(err))
}

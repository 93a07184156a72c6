package native

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// defaultMaxMessage is the limit of a message when the core gives none.
const defaultMaxMessage = 16 << 20

// socket is an open WebSocket.
type socket struct {
	host *Host
	conn *websocket.Conn
	peer string
	stop func() bool
}

// Dial opens a WebSocket.
func (h *Host) Dial(ctx context.Context, r *transport.SocketRequest) (transport.Socket, error) {
	if err := h.ended(ctx); err != nil {
		return nil, err
	}
	u, err := parseURL(r.URL, "ws", "wss", "http", "https")
	if err != nil {
		return nil, err
	}
	if err := checkHeader(r.Header); err != nil {
		return nil, err
	}
	peer := hostPort(u)
	header := http.Header{}
	for _, f := range r.Header {
		header.Add(f[0], f[1])
	}
	dialled, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.ctx, func() { cancel(ErrClosed) })()
	x := &exchange{host: h, peer: peer}
	//nolint:bodyclose // the library closes it (doc of websocket.Dial)
	conn, resp, err := websocket.Dial(x.traced(dialled), r.URL, &websocket.DialOptions{
		HTTPClient: h.sockets, HTTPHeader: header, Host: header.Get("Host"), Subprotocols: r.Subprotocols,
	})
	if err != nil {
		return nil, x.dialFailure(ctx, err, resp)
	}
	conn.SetReadLimit(messageLimit(r.MaxMessage))
	s := &socket{host: h, conn: conn, peer: peer}
	s.stop = context.AfterFunc(h.ctx, func() { _ = conn.CloseNow() })
	return s, nil
}

func messageLimit(n int64) int64 {
	if n <= 0 {
		return defaultMaxMessage
	}
	return n
}

func (x *exchange) dialFailure(ctx context.Context, err error, resp *http.Response) error {
	if own := x.host.ended(ctx); own != nil {
		return own
	}
	if resp != nil {
		return &transport.NetError{
			Kind: transport.NetOther, Host: x.peer, Cause: err,
			Message: fmt.Sprintf("the peer answered %d instead of opening a WebSocket", resp.StatusCode),
		}
	}
	return x.netError(err, x.link.Load() != nil)
}

// Send writes one message.
func (s *socket) Send(ctx context.Context, binary bool, b []byte) error {
	kind := websocket.MessageText
	if binary {
		kind = websocket.MessageBinary
	}
	return s.failure(ctx, s.conn.Write(ctx, kind, b))
}

// Subprotocol is what the peer chose.
func (s *socket) Subprotocol() string { return s.conn.Subprotocol() }

// Next waits for a message.
func (s *socket) Next(ctx context.Context) (binary bool, b []byte, err error) {
	kind, b, err := s.conn.Read(ctx)
	return kind == websocket.MessageBinary, b, s.failure(ctx, err)
}

func (s *socket) failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if own := s.host.ended(ctx); own != nil {
		return own
	}
	switch code := websocket.CloseStatus(err); code {
	case websocket.StatusNormalClosure, websocket.StatusNoStatusRcvd:
		return io.EOF
	case -1:
		return netError(err, s.peer, true)
	default:
		return &transport.NetError{
			Kind: transport.NetReset, Host: s.peer, Cause: err,
			Message: "the peer closed the WebSocket: " + code.String(),
		}
	}
}

// Close says goodbye without waiting for the answer. It is idempotent.
func (s *socket) Close() {
	s.stop()
	_ = s.conn.CloseNow()
}

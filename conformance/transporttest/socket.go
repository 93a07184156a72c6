package transporttest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func socketTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"text and binary stay apart":         socketEcho,
		"header and subprotocol are sent":    socketHeader,
		"a message of the limit passes":      socketLimit,
		"the limit has a default":            socketDefaultLimit,
		"a normal close is the end":          socketNormalClose,
		"another close is an error":          socketOtherClose,
		"a cut socket is an error":           socketCut,
		"a peer that answers HTTP":           socketRefused,
		"nobody listens":                     socketNobody,
		"a peer that hangs up at once":       socketHungUp,
		"ctx ends a wait for a message":      socketCtx,
		"Close says so to the peer":          socketClose,
		"a socket over TLS with own CA":      socketTLS,
		"redirects of sockets not followed":  socketRedirect,
		"an ended ctx opens no socket":       socketEndedCtx,
		"messages keep their order and size": socketOrder,
	}
}

// socketPeer accepts WebSockets.
func (s *suite) socketPeer(handle func(context.Context, *websocket.Conn, *http.Request)) string {
	server := httptest.NewUnstartedServer(s.accepting(handle))
	server.Start()
	s.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

func (s *suite) accepting(handle func(context.Context, *websocket.Conn, *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"v1"}})
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(64 << 20)
		handle(s.ctx, c, r)
	})
}

func echo(ctx context.Context, c *websocket.Conn, _ *http.Request) {
	for {
		kind, b, err := c.Read(ctx)
		if err != nil || c.Write(ctx, kind, b) != nil {
			return
		}
	}
}

// talk dials and runs fn on the socket.
func talk(r *transport.SocketRequest, fn func(context.Context, transport.Host, transport.Socket) (any, error)) Func {
	return func(ctx context.Context, h transport.Host) (any, error) {
		k, err := h.Dial(ctx, r)
		if err != nil {
			return nil, err
		}
		defer k.Close()
		return fn(ctx, h, k)
	}
}

func socketEcho(s *suite) {
	url := s.socketPeer(echo)
	s.do(talk(&transport.SocketRequest{URL: url}, func(ctx context.Context, _ transport.Host, k transport.Socket) (any, error) {
		for i, m := range []string{"text", "\x00\xff", "", strings.Repeat("ä", 100_000)} {
			if err := k.Send(ctx, i%2 == 1, []byte(m)); err != nil {
				return nil, err
			}
			binary, got, err := k.Next(ctx)
			if err != nil || binary != (i%2 == 1) || string(got) != m {
				return nil, fmt.Errorf("message %d: %v %d bytes %w", i, binary, len(got), err)
			}
		}
		return nil, nil
	}))
}

func socketHeader(s *suite) {
	seen := make(chan *http.Request, 1)
	url := s.socketPeer(func(_ context.Context, c *websocket.Conn, r *http.Request) {
		seen <- r
		_ = c.Close(websocket.StatusNormalClosure, "")
	})
	r := &transport.SocketRequest{URL: url + "/p?q=1", Header: transport.Header{{"X-A", "b"}, {"Host", "x.example"}}, Subprotocols: []string{"v1"}}
	chosen := s.do(talk(r, func(ctx context.Context, _ transport.Host, k transport.Socket) (any, error) {
		return k.Subprotocol(), nil
	}))
	require.Equal(s, "v1", chosen)
	got := <-seen
	require.Equal(s, "b", got.Header.Get("X-A"))
	require.Equal(s, "v1", got.Header.Get("Sec-Websocket-Protocol"))
	require.Equal(s, "x.example /p?q=1", got.Host+" "+got.RequestURI)
}

// receive sends one binary message of size to a client with a limit of max.
func (s *suite) receive(size int, limit int64) (int, error) {
	url := s.socketPeer(func(ctx context.Context, c *websocket.Conn, _ *http.Request) {
		_ = c.Write(ctx, websocket.MessageBinary, make([]byte, size))
		_, _, _ = c.Read(ctx)
	})
	n, err := s.fixture.Run(s.ctx, talk(&transport.SocketRequest{URL: url, MaxMessage: limit}, func(ctx context.Context, _ transport.Host, k transport.Socket) (any, error) {
		_, b, err := k.Next(ctx)
		return len(b), err
	}))
	got, _ := n.(int)
	return got, err
}

func socketLimit(s *suite) {
	n, err := s.receive(1000, 1000)
	require.NoError(s, err)
	require.Equal(s, 1000, n)
	_, err = s.receive(1001, 1000)
	require.Error(s, err)
	require.NotEqual(s, io.EOF, err)
}

func socketDefaultLimit(s *suite) {
	for _, size := range []int{32_769, 16 << 20} {
		n, err := s.receive(size, 0)
		require.NoError(s, err)
		require.Equal(s, size, n)
	}
	_, err := s.receive(16<<20+1, 0)
	require.Error(s, err)
}

// ending is what Next gives when the peer ends as end says.
func (s *suite) ending(end func(*websocket.Conn)) error {
	url := s.socketPeer(func(ctx context.Context, c *websocket.Conn, _ *http.Request) {
		_ = c.Write(ctx, websocket.MessageText, []byte("last"))
		end(c)
	})
	return s.fails(talk(&transport.SocketRequest{URL: url}, func(ctx context.Context, _ transport.Host, k transport.Socket) (any, error) {
		if _, b, err := k.Next(ctx); string(b) != "last" {
			return nil, fmt.Errorf("lost the last message: %w", err)
		}
		_, _, err := k.Next(ctx)
		return nil, err
	}))
}

func socketNormalClose(s *suite) {
	require.Equal(s, io.EOF, s.ending(func(c *websocket.Conn) { _ = c.Close(websocket.StatusNormalClosure, "bye") }))
}

func socketOtherClose(s *suite) {
	err := s.ending(func(c *websocket.Conn) { _ = c.Close(websocket.StatusInternalError, "oops") })
	var e *transport.NetError
	require.ErrorAs(s, err, &e)
	require.Equal(s, transport.NetReset, e.Kind)
}

func socketCut(s *suite) {
	err := s.ending(func(c *websocket.Conn) { _ = c.CloseNow() })
	var e *transport.NetError
	require.ErrorAs(s, err, &e)
	require.Equal(s, transport.NetReset, e.Kind)
}

func nothing(context.Context, transport.Host, transport.Socket) (any, error) { return nil, nil }

func socketRefused(s *suite) {
	p := s.peer(always("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))
	e := s.netError(talk(&transport.SocketRequest{URL: p.url + "/?token=sEcReT"}, nothing))
	require.Equal(s, transport.NetOther, e.Kind)
	require.NotContains(s, e.Error(), "sEcReT")
}

func socketNobody(s *suite) {
	e := s.netError(talk(&transport.SocketRequest{URL: "ws://" + s.closedPort() + "/?token=sEcReT"}, nothing))
	require.Equal(s, transport.NetRefused, e.Kind)
	require.NotContains(s, e.Cause.Error(), "sEcReT")
}

func socketHungUp(s *suite) {
	p := s.peer(func(c *conn) { c.skip() })
	e := s.netError(talk(&transport.SocketRequest{URL: p.url}, nothing))
	require.Equal(s, transport.NetReset, e.Kind, e.Error())
	require.False(s, e.NeverSent())
}

func socketCtx(s *suite) {
	url := s.socketPeer(echo)
	err := s.fails(talk(&transport.SocketRequest{URL: url}, func(ctx context.Context, h transport.Host, k transport.Socket) (any, error) {
		limited, _, _ := h.Limit(ctx, transport.ClockIdle, short)
		_, _, err := k.Next(limited)
		return nil, err
	}))
	require.Equal(s, transport.Timeout{Clock: transport.ClockIdle, After: short}, err)
}

func socketClose(s *suite) {
	left := make(chan struct{})
	url := s.socketPeer(func(ctx context.Context, c *websocket.Conn, r *http.Request) {
		echo(ctx, c, r)
		close(left)
	})
	s.do(talk(&transport.SocketRequest{URL: url}, func(_ context.Context, _ transport.Host, k transport.Socket) (any, error) {
		k.Close()
		k.Close()
		return nil, nil
	}))
	s.wait(left, "the peer sees the end")
}

func socketTLS(s *suite) {
	server := httptest.NewUnstartedServer(s.accepting(echo))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{s.authority.cert}}
	server.EnableHTTP2 = true // a WebSocket must not take it
	server.StartTLS()
	s.Cleanup(server.Close)
	s.do(talk(&transport.SocketRequest{URL: "wss" + strings.TrimPrefix(server.URL, "https")}, nothing))
}

func socketRedirect(s *suite) {
	target := s.peer(always(hello))
	p := s.peer(always("HTTP/1.1 302 Found\r\nLocation: " + target.url + "\r\nContent-Length: 0\r\n\r\n"))
	s.netError(talk(&transport.SocketRequest{URL: p.url}, nothing))
	require.Zero(s, target.conns.Load())
}

func socketEndedCtx(s *suite) {
	p := s.peer(always(hello))
	err := s.fails(func(ctx context.Context, h transport.Host) (any, error) {
		ended, cancel := context.WithCancelCause(ctx)
		cancel(errCaller)
		return h.Dial(ended, &transport.SocketRequest{URL: p.url})
	})
	require.Equal(s, errCaller, err)
	require.Zero(s, p.conns.Load())
}

func socketOrder(s *suite) {
	url := s.socketPeer(echo)
	s.do(talk(&transport.SocketRequest{URL: url}, func(ctx context.Context, h transport.Host, k transport.Socket) (any, error) {
		buf := make([]byte, 1000)
		for i := range 200 {
			for j := range buf {
				buf[j] = byte(i) // the buffer is the sender's again after Send
			}
			if err := k.Send(ctx, true, buf[:i]); err != nil {
				return nil, err
			}
		}
		for i := range 200 {
			_, b, err := k.Next(ctx)
			if err != nil || len(b) != i || i > 0 && (b[0] != byte(i) || b[i-1] != byte(i)) {
				return nil, fmt.Errorf("message %d: %d bytes %w", i, len(b), err)
			}
		}
		return nil, h.Sleep(ctx, time.Millisecond)
	}))
}

package transporttest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

var errCaller = errors.New("the caller has had enough")

func exchangeTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"head comes before the body":            headBeforeBody,
		"request is sent as the core wrote it":  requestAsWritten,
		"a path and a query are never changed":  pathIsData,
		"nothing is added to the request":       nothingAdded,
		"redirects are not followed":            redirectsNotFollowed,
		"an ended ctx sends nothing":            endedCtxSendsNothing,
		"ctx ends Do with its cause":            ctxEndsDo,
		"a connection is used again":            connectionReused,
		"a closed connection is not used again": closedConnectionNotReused,
		"names below localhost reach loopback":  localhostNames,
		"bad URLs and headers are refused":      badRequests,
	}
}

func headBeforeBody(s *suite) {
	seen := make(chan struct{})
	p := s.peer(func(c *conn) {
		c.skip()
		c.send(chunkedHead)
		<-seen
		c.send("5\r\nhello\r\n0\r\n\r\n")
		c.gone()
	})
	got := s.do(func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, get(p.url))
		close(seen)
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		body, err := readAll(ctx, r.Body)
		return []any{r.Status, r.Header.Get("x-a"), body}, err
	})
	require.Equal(s, []any{200, "b", "hello"}, got)
}

// seeing is a peer that passes on the first request it sees.
func (s *suite) seeing() (*peer, <-chan *http.Request) {
	seen := make(chan *http.Request, 1)
	return s.peer(func(c *conn) {
		for r := c.request(); r != nil; r = c.request() {
			r.Body = io.NopCloser(strings.NewReader(c.body(r)))
			seen <- r
			c.send(hello)
		}
	}), seen
}

func requestAsWritten(s *suite) {
	p, seen := s.seeing()
	s.do(fetching(&transport.Request{
		Method: "POST", URL: p.url + "/a", Body: transport.Body{Bytes: []byte("payload")},
		Header: transport.Header{{"Host", "other.example"}, {"X-Two", "1"}, {"x-two", "2"}, {"content-length", "99"}},
	}))
	r := <-seen
	body, _ := io.ReadAll(r.Body)
	require.Equal(s, "POST /a other.example", r.Method+" "+r.RequestURI+" "+r.Host)
	require.Equal(s, []string{"1", "2"}, r.Header["X-Two"])
	require.EqualValues(s, 7, r.ContentLength)
	require.Equal(s, "payload", string(body))
}

func pathIsData(s *suite) {
	p, seen := s.seeing()
	for _, path := range []string{"/a/../b//c", "/my%20file%2Fx", "/%E6%96%87?path=%2Ftmp%2Fa+b&x=1;2", "/a:b@c?"} {
		s.do(fetching(get(p.url + path)))
		require.Equal(s, path, (<-seen).RequestURI)
	}
}

func nothingAdded(s *suite) {
	p, seen := s.seeing()
	s.do(fetching(get(p.url)))
	require.Empty(s, (<-seen).Header)
}

func redirectsNotFollowed(s *suite) {
	p := s.peer(always("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"))
	require.Equal(s, 302, s.do(func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, get(p.url))
		if err != nil {
			return nil, err
		}
		r.Body.Close()
		return r.Status, nil
	}))
}

func endedCtxSendsNothing(s *suite) {
	p := s.peer(always(hello))
	err := s.fails(func(ctx context.Context, h transport.Host) (any, error) {
		ended, cancel := context.WithCancelCause(ctx)
		cancel(errCaller)
		_, err := h.Do(ended, get(p.url))
		return nil, err
	})
	require.Equal(s, errCaller, err)
	require.Zero(s, p.conns.Load())
}

func ctxEndsDo(s *suite) {
	left := make(chan struct{})
	ctx, cancel := context.WithCancelCause(s.ctx)
	p := s.peer(func(c *conn) {
		c.skip()
		cancel(errCaller)
		c.gone()
		close(left)
	})
	_, err := s.fixture.Run(ctx, fetching(get(p.url)))
	require.Equal(s, errCaller, err)
	s.wait(left, "the client hangs up")
}

func connectionReused(s *suite) {
	p := s.peer(always(hello))
	for range 3 {
		require.Equal(s, "hello", s.do(fetching(get(p.url))))
	}
	require.EqualValues(s, 1, p.conns.Load())
}

func closedConnectionNotReused(s *suite) {
	p := s.peer(func(c *conn) { // says nothing of closing, and closes
		c.skip()
		c.send(hello)
	})
	for range 5 {
		r := &transport.Request{Method: "POST", URL: p.url, Body: transport.Body{Bytes: []byte("x")}}
		require.Equal(s, "hello", s.do(fetching(r)))
		time.Sleep(20 * time.Millisecond) // for the FIN to arrive
	}
}

func localhostNames(s *suite) {
	p, seen := s.seeing()
	_, port, _ := strings.Cut(strings.TrimPrefix(p.url, "http://"), ":")
	for _, name := range []string{"localhost:", "49983-abc.localhost:", "x.y.LOCALHOST:"} {
		require.Equal(s, "hello", s.do(fetching(get("http://"+name+port+"/"))))
		require.Equal(s, name+port, (<-seen).Host)
	}
	require.EqualValues(s, 1, p.conns.Load(), "one server, one pool")
}

func badRequests(s *suite) {
	p := s.peer(always(hello))
	for name, r := range map[string]*transport.Request{
		"scheme":       get("ftp://127.0.0.1/?secret"),
		"no host":      get("http:///?secret"),
		"control":      get(p.url + "/\x7f?secret"),
		"header value": {Method: "GET", URL: p.url, Header: transport.Header{{"X-A", "a\r\nX-B: secret"}}},
		"header name":  {Method: "GET", URL: p.url, Header: transport.Header{{"X A: secret", "a"}}},
	} {
		e := s.netError(fetching(r))
		require.NotContains(s, e.Error(), "secret", name)
	}
	require.Zero(s, p.conns.Load())
}

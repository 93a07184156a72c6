package transporttest

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func streamTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"a bulk body goes to the host":              streamWhole,
		"a bulk body may go to the core":            bulkToCore,
		"a bulk body may be closed":                 bulkClosed,
		"a body that is not bulk cannot":            streamNotBulk,
		"the idle clock ends a stream":              streamIdle,
		"a slow reader is no silent peer":           streamSlowReader,
		"a stream ends with the ctx of its request": streamCtx,
		"a stream outlives its request clock":       streamOutlivesClock,
		"closing a stream hangs up":                 streamClose,
		"a cut stream is no complete one":           streamCut,
	}
}

// streaming is an operation that gives its body to the host.
func streaming(url string, idle time.Duration) Func {
	return func(ctx context.Context, h transport.Host) (any, error) {
		limited, _, disarm := h.Limit(ctx, transport.ClockRequest, short)
		r, err := h.Do(limited, &transport.Request{Method: "GET", URL: url, Bulk: true})
		disarm()
		if err != nil {
			return nil, err
		}
		return r.Body.ToHost(idle), nil
	}
}

func (s *suite) stream(url string, idle time.Duration) transport.Stream {
	s.Helper()
	return s.do(streaming(url, idle)).(transport.Stream)
}

func streamWhole(s *suite) {
	want := strings.Repeat("0123456789abcdef", 64<<10)
	p := s.peer(always("HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + want))
	for range 3 {
		r := s.stream(p.url, time.Second)
		got, err := io.ReadAll(r)
		require.NoError(s, err)
		require.True(s, string(got) == want)
		require.NoError(s, r.Close())
	}
	require.EqualValues(s, 1, p.conns.Load())
}

func bulkToCore(s *suite) {
	p := s.peer(always("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nsorry"))
	require.Equal(s, "sorry", s.do(fetching(&transport.Request{Method: "GET", URL: p.url, Bulk: true})))
}

func bulkClosed(s *suite) {
	p, left := s.hanging()
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, &transport.Request{Method: "GET", URL: p.url, Bulk: true})
		if err == nil {
			r.Body.Close()
		}
		return nil, err
	})
	s.wait(left, "the client hangs up")
}

func streamNotBulk(s *suite) {
	p := s.peer(always(hello))
	for _, bulk := range []bool{false, true} {
		r := s.do(func(ctx context.Context, h transport.Host) (any, error) {
			r, err := h.Do(ctx, &transport.Request{Method: "GET", URL: p.url, Bulk: bulk})
			if err != nil {
				return nil, err
			}
			if bulk {
				_, _ = r.Body.Next(ctx)
			}
			return r.Body.ToHost(0), nil
		}).(transport.Stream)
		_, err := r.Read(make([]byte, 9))
		require.ErrorIs(s, err, transport.ErrNotBulk)
		require.NoError(s, r.Close())
	}
}

func streamIdle(s *suite) {
	p, left := s.hanging()
	r := s.stream(p.url, short)
	defer r.Close()
	began := time.Now()
	got, err := io.ReadAll(r)
	require.Equal(s, transport.Timeout{Clock: transport.ClockIdle, After: short}, err)
	require.Equal(s, "hello", string(got))
	lasted(s, short, began)
	s.wait(left, "the client hangs up")
}

func streamSlowReader(s *suite) {
	p := s.peer(always(hello))
	r := s.stream(p.url, short)
	defer r.Close()
	time.Sleep(2 * short)
	got, err := io.ReadAll(r)
	require.NoError(s, err)
	require.Equal(s, "hello", string(got))
}

func streamCtx(s *suite) {
	p, left := s.hanging()
	ctx, cancel := context.WithCancelCause(s.ctx)
	v, err := s.fixture.Run(ctx, streaming(p.url, 0))
	require.NoError(s, err)
	r := v.(transport.Stream)
	defer r.Close()
	defer time.AfterFunc(short, func() { cancel(errCaller) }).Stop()
	_, err = io.ReadAll(r)
	require.Equal(s, errCaller, err)
	s.wait(left, "the client hangs up")
}

func streamOutlivesClock(s *suite) {
	p := s.peer(func(c *conn) {
		c.skip()
		c.send(chunkedHead)
		time.Sleep(2 * short)
		c.send("5\r\nhello\r\n0\r\n\r\n")
		c.gone()
	})
	r := s.stream(p.url, 0)
	defer r.Close()
	got, err := io.ReadAll(r)
	require.NoError(s, err)
	require.Equal(s, "hello", string(got))
}

func streamClose(s *suite) {
	p, left := s.hanging()
	r := s.stream(p.url, 0)
	closed := time.AfterFunc(short, func() { _ = r.Close() })
	defer closed.Stop()
	_, err := io.ReadAll(r)
	require.Error(s, err)
	require.NoError(s, r.Close())
	s.wait(left, "the client hangs up")
}

func streamCut(s *suite) {
	p := s.peer(func(c *conn) { c.skip(); c.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello") })
	r := s.stream(p.url, 0)
	defer r.Close()
	got, err := io.ReadAll(r)
	var e *transport.NetError
	require.ErrorAs(s, err, &e)
	require.Equal(s, transport.NetReset, e.Kind)
	require.Equal(s, "hello", string(got))
}

package transporttest

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func bodyTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"chunks arrive as they are sent":                 chunksAsSent,
		"one byte a write":                               oneByteWrites,
		"a large body is exact":                          largeBody,
		"a chunk lives until the next Next":              chunkLives,
		"ctx ends Next with its cause":                   ctxEndsNext,
		"a body outlives the ctx of Do":                  bodyOutlivesDo,
		"Close aborts the connection":                    closeAborts,
		"Close is idempotent and Next after it fails":    closeTwice,
		"the end repeats":                                endRepeats,
		"an unread body is closed with the operation":    forgottenBody,
		"FIN before content-length is a cut":             finBeforeLength,
		"FIN inside chunked is a cut":                    finInChunked,
		"RST inside a body is a cut":                     resetInBody,
		"everything before a cut is delivered":           dataBeforeCut,
		"FIN ends a body without a length":               finEndsClose,
		"responses without a body end at once":           emptyBodies,
		"concurrent exchanges do not mix up their bytes": noMixUp,
	}
}

func chunksAsSent(s *suite) {
	next := make(chan struct{})
	p := s.peer(func(c *conn) {
		c.skip()
		c.send(chunkedHead)
		for i := range 5 {
			c.send(fmt.Sprintf("2\r\n%d\n\r\n", i))
			<-next
		}
		c.send("0\r\n\r\n")
		c.gone()
	})
	got := s.do(func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, get(p.url))
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		var chunks []string
		for {
			b, err := r.Body.Next(ctx)
			if err == io.EOF {
				return chunks, nil
			}
			if err != nil {
				return nil, err
			}
			chunks = append(chunks, string(b))
			next <- struct{}{}
		}
	})
	require.Equal(s, []string{"0\n", "1\n", "2\n", "3\n", "4\n"}, got)
}

func oneByteWrites(s *suite) {
	want := strings.Repeat("äöü€😀", 20)
	p := s.peer(func(c *conn) {
		c.skip()
		for _, b := range []byte(chunkedHead + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(want), want)) {
			c.send(string([]byte{b}))
		}
		c.gone()
	})
	require.Equal(s, want, s.do(fetching(get(p.url))))
}

func largeBody(s *suite) {
	want := strings.Repeat("0123456789abcdef", 512<<10)
	for name, head := range map[string]string{
		"length": fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(want), want),
		"chunks": fmt.Sprintf("%s%x\r\n%s\r\n0\r\n\r\n", chunkedHead, len(want), want),
	} {
		p := s.peer(always(head))
		require.True(s, s.do(fetching(get(p.url))) == want, name)
	}
}

func chunkLives(s *suite) {
	p := s.peer(always(chunkedHead + "5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n"))
	got := s.do(func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, get(p.url))
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		held, err := r.Body.Next(ctx)
		if err != nil {
			return nil, err
		}
		if _, err := fetch(ctx, h, get(p.url)); err != nil {
			return nil, err
		}
		if rest, err := r.Body.Next(ctx); err == nil {
			return string(rest), nil // both came at once, or apart
		}
		return string(held[len(held)-6:]), nil
	})
	require.Equal(s, "second", got)
}

// hanging is a peer that sends a head and a first chunk, and then nothing.
func (s *suite) hanging() (p *peer, left chan struct{}) {
	left = make(chan struct{})
	return s.peer(func(c *conn) {
		if !c.skip() {
			return
		}
		c.send(chunkedHead + "5\r\nhello\r\n")
		c.gone()
		close(left)
	}), left
}

func ctxEndsNext(s *suite) {
	p, left := s.hanging()
	err := s.fails(func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, get(p.url))
		if err != nil {
			return nil, err
		}
		if _, err := r.Body.Next(ctx); err != nil {
			return nil, err
		}
		limited, _, _ := h.Limit(ctx, transport.ClockIdle, short)
		_, err = r.Body.Next(limited)
		if _, again := r.Body.Next(ctx); again != err {
			return nil, fmt.Errorf("the body came back to life: %v", again)
		}
		return nil, err
	})
	require.Equal(s, transport.Timeout{Clock: transport.ClockIdle, After: short}, err)
	s.wait(left, "the client hangs up")
}

func bodyOutlivesDo(s *suite) {
	p := s.peer(always(hello))
	require.Equal(s, "hello", s.do(func(ctx context.Context, h transport.Host) (any, error) {
		own, cancel := context.WithCancelCause(ctx)
		r, err := h.Do(own, get(p.url))
		cancel(errCaller)
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		return readAll(ctx, r.Body)
	}))
}

func closeAborts(s *suite) {
	p, left := s.hanging()
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, get(p.url))
		if err != nil {
			return nil, err
		}
		_, err = r.Body.Next(ctx)
		r.Body.Close()
		return nil, err
	})
	s.wait(left, "the client hangs up")
}

func closeTwice(s *suite) {
	p := s.peer(always(hello))
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, get(p.url))
		if err != nil {
			return nil, err
		}
		r.Body.Close()
		r.Body.Close()
		if _, err := r.Body.Next(ctx); err == nil || err == io.EOF {
			return nil, fmt.Errorf("a closed body gave %v", err)
		}
		return nil, nil
	})
}

func endRepeats(s *suite) {
	p := s.peer(always(hello))
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, get(p.url))
		if err != nil {
			return nil, err
		}
		if _, err := readAll(ctx, r.Body); err != nil {
			return nil, err
		}
		for range 3 {
			if _, err := r.Body.Next(ctx); err != io.EOF {
				return nil, fmt.Errorf("after the end: %v", err)
			}
		}
		r.Body.Close()
		return nil, nil
	})
}

func forgottenBody(s *suite) {
	p, left := s.hanging()
	ctx, cancel := context.WithCancel(s.ctx)
	_, err := s.fixture.Run(ctx, func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, get(p.url))
		if err != nil {
			return nil, err
		}
		defer r.Body.Close() // the rule natively; the engine would do it too
		return nil, nil
	})
	cancel()
	require.NoError(s, err)
	s.wait(left, "the client hangs up")
}

// cut wants a body that ends in a reset.
func (s *suite) cut(handle func(*conn)) {
	s.Helper()
	p := s.peer(handle)
	e := s.netError(fetching(get(p.url)))
	require.Equal(s, transport.NetReset, e.Kind, e.Error())
	require.False(s, e.NeverSent())
}

func finBeforeLength(s *suite) {
	s.cut(func(c *conn) { c.skip(); c.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello") })
}

func finInChunked(s *suite) {
	for _, end := range []string{"", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n"} {
		s.cut(func(c *conn) { c.skip(); c.send(chunkedHead + end) })
	}
}

func resetInBody(s *suite) {
	for _, head := range []string{chunkedHead + "5\r\nhello\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"} {
		s.cut(func(c *conn) { c.skip(); c.send(head); c.reset() })
	}
}

func dataBeforeCut(s *suite) {
	p := s.peer(func(c *conn) { c.skip(); c.send(chunkedHead + "5\r\nhello\r\n6\r\n wor") })
	require.Equal(s, "hello wor", s.do(func(ctx context.Context, h transport.Host) (any, error) {
		got, err := fetch(ctx, h, get(p.url))
		if err == nil {
			return nil, fmt.Errorf("a cut body looks complete")
		}
		return got, nil
	}))
}

func finEndsClose(s *suite) {
	p := s.peer(func(c *conn) { c.skip(); c.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello") })
	require.Equal(s, "hello", s.do(fetching(get(p.url))))
}

func emptyBodies(s *suite) {
	for _, head := range []string{"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", chunkedHead + "0\r\n\r\n"} {
		p := s.peer(always(head))
		require.Equal(s, "", s.do(fetching(get(p.url))))
	}
}

func noMixUp(s *suite) {
	p := s.peer(func(c *conn) {
		for r := c.request(); r != nil; r = c.request() {
			b := strings.Repeat(r.URL.Path, 5000)
			c.send(fmt.Sprintf("%s%x\r\n%s\r\n0\r\n\r\n", chunkedHead, len(b), b))
		}
	})
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 16, 100, func(ctx context.Context, i int) error {
			path := fmt.Sprintf("/%03d", i)
			got, err := fetch(ctx, h, get(p.url+path))
			if err == nil && got != strings.Repeat(path, 5000) {
				err = fmt.Errorf("%s got something else", path)
			}
			return err
		})
	})
}

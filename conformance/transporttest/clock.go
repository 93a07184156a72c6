package transporttest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// short is a clock that is meant to fire.
const short = 150 * time.Millisecond

func clockTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"a clock ends Do":                         clockEndsDo,
		"a clock that fires early or late":        clockPrecision,
		"reset starts the clock anew":             resetClock,
		"disarm keeps the body alive":             disarmKeepsBody,
		"reset after disarm does nothing":         resetAfterDisarm,
		"reset after firing does nothing":         resetAfterFiring,
		"a clock that begins later":               laterClock,
		"no clock":                                noClock,
		"a limited ctx ends with its parent":      limitedEndsWithParent,
		"clocks keep their names when nested":     nestedClocks,
		"cleanup survives the cancel":             cleanupSurvives,
		"cleanup has a clock":                     cleanupClock,
		"sleep lasts as long as asked":            sleepLasts,
		"sleep ends with ctx":                     sleepEnds,
		"a ctx that lives long gathers no clocks": manyClocks,
	}
}

// limitedFetch fetches under a clock of d.
func limitedFetch(name string, d time.Duration, url string) Func {
	return func(ctx context.Context, h transport.Host) (any, error) {
		limited, _, disarm := h.Limit(ctx, name, d)
		defer disarm()
		return fetch(limited, h, get(url))
	}
}

// lasted wants an end at most 10 % early, and at most half a second late.
func lasted(s *suite, want time.Duration, began time.Time) {
	s.Helper()
	got := time.Since(began)
	require.Greater(s, got, want*9/10)
	require.Less(s, got, want+500*time.Millisecond)
}

func silent(c *conn) { c.skip(); c.gone() }

func clockEndsDo(s *suite) {
	p := s.peer(silent)
	err := s.fails(limitedFetch(transport.ClockRequest, short, p.url))
	require.Equal(s, transport.Timeout{Clock: transport.ClockRequest, After: short}, err)
}

func clockPrecision(s *suite) {
	p := s.peer(silent)
	began := time.Now()
	s.fails(limitedFetch(transport.ClockRequest, short, p.url))
	lasted(s, short, began)
}

func resetClock(s *suite) {
	p := s.peer(func(c *conn) {
		c.skip()
		c.send(chunkedHead)
		for range 12 {
			time.Sleep(short / 5)
			c.send("1\r\nx\r\n")
		}
		c.gone()
	})
	began := time.Now()
	got := s.do(func(ctx context.Context, h transport.Host) (any, error) {
		limited, reset, disarm := h.Limit(ctx, transport.ClockIdle, short)
		defer disarm()
		r, err := h.Do(limited, get(p.url))
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		for n := 0; ; n++ {
			if _, err := r.Body.Next(limited); err != nil {
				return []any{n, err}, nil
			}
			reset()
		}
	})
	require.Equal(s, []any{12, transport.Timeout{Clock: transport.ClockIdle, After: short}}, got)
	lasted(s, short*12/5+short, began)
}

func disarmKeepsBody(s *suite) {
	p := s.peer(func(c *conn) {
		c.skip()
		c.send(chunkedHead)
		time.Sleep(2 * short)
		c.send("5\r\nhello\r\n0\r\n\r\n")
		c.gone()
	})
	require.Equal(s, "hello", s.do(func(ctx context.Context, h transport.Host) (any, error) {
		limited, _, disarm := h.Limit(ctx, transport.ClockRequest, short)
		r, err := h.Do(limited, get(p.url))
		disarm()
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		return readAll(limited, r.Body)
	}))
}

func resetAfterDisarm(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		limited, reset, disarm := h.Limit(ctx, transport.ClockIdle, short)
		disarm()
		disarm()
		reset()
		if err := h.Sleep(limited, 2*short); err != nil {
			return nil, err
		}
		return nil, limited.Err()
	})
}

func resetAfterFiring(s *suite) {
	want := transport.Timeout{Clock: transport.ClockIdle, After: short}
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		limited, reset, disarm := h.Limit(ctx, transport.ClockIdle, short)
		if err := h.Sleep(limited, time.Minute); err != want {
			return nil, err
		}
		reset()
		disarm()
		if err := context.Cause(limited); err != want {
			return nil, fmt.Errorf("after reset: %v", err)
		}
		return nil, nil
	})
}

func noClock(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		for _, d := range []time.Duration{0, -1} {
			limited, reset, disarm := h.Limit(ctx, transport.ClockIdle, d)
			reset()
			if err := h.Sleep(limited, short/10); err != nil {
				return nil, err
			}
			disarm()
		}
		return nil, nil
	})
}

func limitedEndsWithParent(s *suite) {
	err := s.fails(func(ctx context.Context, h transport.Host) (any, error) {
		parent, cancel := context.WithCancelCause(ctx)
		first, _, stop := h.Limit(parent, transport.ClockIdle, time.Minute)
		defer stop()
		second, _, disarm := h.Limit(first, transport.ClockRequest, time.Minute)
		disarm()
		cancel(errCaller)
		if second.Err() == nil {
			return nil, errors.New("it lives on for a while")
		}
		return nil, h.Sleep(second, time.Minute)
	})
	require.Equal(s, errCaller, err)
}

func nestedClocks(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		outer, _, _ := h.Limit(ctx, transport.ClockCommand, short)
		inner, _, disarm := h.Limit(outer, transport.ClockIdle, time.Minute)
		defer disarm()
		if err := h.Sleep(inner, time.Minute); err != (transport.Timeout{Clock: transport.ClockCommand, After: short}) {
			return nil, fmt.Errorf("outer: %v", err)
		}
		outer, _, disarm = h.Limit(ctx, transport.ClockCommand, time.Minute)
		defer disarm()
		inner, _, _ = h.Limit(outer, transport.ClockIdle, short)
		if err := h.Sleep(inner, time.Minute); err != (transport.Timeout{Clock: transport.ClockIdle, After: short}) {
			return nil, fmt.Errorf("inner: %v", err)
		}
		return nil, outer.Err()
	})
}

func laterClock(s *suite) {
	p := s.peer(silent)
	began := time.Now()
	err := s.fails(func(ctx context.Context, h transport.Host) (any, error) {
		limited, start, disarm := h.Later(ctx, transport.ClockRequest, short)
		defer disarm()
		if err := h.Sleep(limited, 2*short); err != nil {
			return nil, err
		}
		_, never, cleared := h.Later(ctx, transport.ClockIdle, short)
		cleared()
		never()
		start()
		start()
		return fetch(limited, h, get(p.url))
	})
	require.Equal(s, transport.Timeout{Clock: transport.ClockRequest, After: short}, err)
	lasted(s, 3*short, began)
}

func cleanupSurvives(s *suite) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	killed := make(chan struct{})
	p := s.peer(func(c *conn) {
		for r := c.request(); r != nil; r = c.request() {
			switch r.URL.Path {
			case "/ready":
				cancel(errCaller)
				c.gone()
				return
			case "/kill":
				close(killed)
			}
			c.send(hello)
		}
	})
	_, err := s.fixture.Run(ctx, func(ctx context.Context, h transport.Host) (any, error) {
		if _, err := fetch(ctx, h, get(p.url+"/create")); err != nil {
			return nil, err
		}
		_, err := fetch(ctx, h, get(p.url+"/ready"))
		detached, disarm := h.Detached(ctx, 5*time.Second)
		defer disarm()
		_, kerr := fetch(detached, h, get(p.url+"/kill"))
		return nil, errors.Join(err, kerr)
	})
	require.EqualError(s, err, errCaller.Error())
	s.wait(killed, "the cleanup")
}

func cleanupClock(s *suite) {
	p := s.peer(silent)
	err := s.fails(func(ctx context.Context, h transport.Host) (any, error) {
		detached, disarm := h.Detached(ctx, short)
		defer disarm()
		return fetch(detached, h, get(p.url))
	})
	require.Equal(s, transport.Timeout{Clock: transport.ClockCleanup, After: short}, err)
}

func sleepLasts(s *suite) {
	began := time.Now()
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, errors.Join(h.Sleep(ctx, 0), h.Sleep(ctx, short))
	})
	lasted(s, short, began)
}

func sleepEnds(s *suite) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	stop := time.AfterFunc(short, func() { cancel(errCaller) })
	defer stop.Stop()
	_, err := s.fixture.Run(ctx, func(ctx context.Context, h transport.Host) (any, error) { return nil, h.Sleep(ctx, time.Minute) })
	require.Equal(s, errCaller, err)
	_, err = s.fixture.Run(ctx, func(ctx context.Context, h transport.Host) (any, error) { return nil, h.Sleep(ctx, time.Minute) })
	require.Equal(s, errCaller, err)
}

func manyClocks(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	for range 100 {
		_, err := s.fixture.Run(ctx, func(ctx context.Context, h transport.Host) (any, error) {
			for range 100 {
				_, reset, disarm := h.Limit(ctx, transport.ClockIdle, time.Minute)
				reset()
				disarm()
			}
			return nil, nil
		})
		require.NoError(s, err)
	}
}

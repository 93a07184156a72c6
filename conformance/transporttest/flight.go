package transporttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func flightTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"one call for sixteen callers":            flightOnce,
		"the last waiter to leave ends a flight":  flightLastLeaves,
		"one waiter may leave":                    flightOneLeaves,
		"a panic reaches all and frees the key":   flightPanic,
		"a failed flight is not remembered":       flightFails,
		"a flight left by all is not joined":      flightNotJoined,
		"a flight outlives the caller who led it": flightLeaderLeaves,
	}
}

// callers runs fn as n operations at once; each gets its number.
func (s *suite) callers(n int, fn func(i int) (context.Context, Func)) (values []any, errs []error) {
	values, errs = make([]any, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			ctx, f := fn(i)
			values[i], errs[i] = s.fixture.Run(ctx, f)
		})
	}
	all.Wait()
	return values, errs
}

// internal wants the error of a contained panic.
func (s *suite) internal(err error) {
	s.Helper()
	require.Equal(s, fault.CodeInternal, fault.CodeOf(err), "%v", err)
}

func flightOnce(s *suite) {
	var calls atomic.Int32
	p := s.peer(func(c *conn) {
		c.skip()
		calls.Add(1)
		time.Sleep(short)
		c.send(hello)
		c.gone()
	})
	values, errs := s.callers(16, func(int) (context.Context, Func) {
		return s.ctx, func(ctx context.Context, h transport.Host) (any, error) {
			return h.Flight(ctx, "key", func(ctx context.Context) (any, error) { return fetch(ctx, h, get(p.url)) })
		}
	})
	for i := range values {
		require.NoError(s, errs[i])
		require.Equal(s, "hello", values[i])
	}
	require.EqualValues(s, 1, calls.Load())
}

// waiting is a flight that waits for ever and tells how its ctx ended.
func waiting(h transport.Host, began func(), cause chan<- error) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		began()
		err := h.Sleep(ctx, time.Minute)
		cause <- err
		return nil, err
	}
}

func flightLastLeaves(s *suite) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	cause := make(chan error, 1)
	_, errs := s.callers(3, func(int) (context.Context, Func) {
		return ctx, func(ctx context.Context, h transport.Host) (any, error) {
			return h.Flight(ctx, "key", waiting(h, func() { time.AfterFunc(short, func() { cancel(errCaller) }) }, cause))
		}
	})
	for _, err := range errs {
		require.Equal(s, errCaller, err)
	}
	require.Equal(s, transport.ErrNobodyWaits, <-cause)
}

func flightOneLeaves(s *suite) {
	p := s.peer(func(c *conn) {
		c.skip()
		time.Sleep(2 * short)
		c.send(hello)
		c.gone()
	})
	impatient, cancel := context.WithCancelCause(s.ctx)
	defer time.AfterFunc(short, func() { cancel(errCaller) }).Stop()
	values, errs := s.callers(4, func(i int) (context.Context, Func) {
		ctx := s.ctx
		if i == 0 {
			ctx = impatient
		}
		return ctx, func(ctx context.Context, h transport.Host) (any, error) {
			return h.Flight(ctx, "key", func(ctx context.Context) (any, error) { return fetch(ctx, h, get(p.url)) })
		}
	})
	require.Equal(s, errCaller, errs[0])
	require.Equal(s, []any{"hello", "hello", "hello"}, values[1:])
}

func flightPanic(s *suite) {
	var calls atomic.Int32
	_, errs := s.callers(4, func(int) (context.Context, Func) {
		return s.ctx, func(ctx context.Context, h transport.Host) (any, error) {
			return h.Flight(ctx, "key", func(ctx context.Context) (any, error) {
				calls.Add(1)
				_ = h.Sleep(ctx, short)
				panic("boom")
			})
		}
	})
	for _, err := range errs {
		s.internal(err)
	}
	require.EqualValues(s, 1, calls.Load())
	require.Equal(s, 1, s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return h.Flight(ctx, "key", func(context.Context) (any, error) { return 1, nil })
	}))
}

func flightFails(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		for i := range 3 {
			want := fmt.Errorf("failure %d", i)
			if _, err := h.Flight(ctx, "key", func(context.Context) (any, error) { return nil, want }); err != want {
				return nil, fmt.Errorf("got %w", err)
			}
		}
		return nil, nil
	})
}

func flightNotJoined(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		limited, _, _ := h.Limit(ctx, transport.ClockRequest, short)
		_, err := h.Flight(limited, "key", func(ctx context.Context) (any, error) {
			return nil, h.Sleep(ctx, time.Minute)
		})
		if !errors.Is(err, transport.Timeout{Clock: transport.ClockRequest, After: short}) {
			return nil, err
		}
		v, err := h.Flight(ctx, "key", func(context.Context) (any, error) { return "anew", nil })
		if v != "anew" {
			return nil, fmt.Errorf("joined the dead flight: %v, %w", v, err)
		}
		return nil, err
	})
}

func flightLeaderLeaves(s *suite) {
	leader, cancel := context.WithCancelCause(s.ctx)
	began := make(chan struct{})
	values, errs := s.callers(2, func(i int) (context.Context, Func) {
		if i == 0 {
			return leader, func(ctx context.Context, h transport.Host) (any, error) {
				return h.Flight(ctx, "key", func(ctx context.Context) (any, error) {
					close(began)
					return "led", h.Sleep(ctx, 3*short)
				})
			}
		}
		<-began
		defer time.AfterFunc(short, func() { cancel(errCaller) })
		return s.ctx, func(ctx context.Context, h transport.Host) (any, error) {
			return h.Flight(ctx, "key", func(context.Context) (any, error) { return nil, errors.New("not joined") })
		}
	})
	require.Equal(s, errCaller, errs[0])
	require.NoError(s, errs[1])
	require.Equal(s, "led", values[1])
}

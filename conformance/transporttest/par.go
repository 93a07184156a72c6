package transporttest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func parTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"at most limit at a time":              parLimit,
		"the first error cancels and joins":    parError,
		"a panic in a child is contained":      parPanic,
		"the end of ctx joins all children":    parCtx,
		"nothing to do":                        parNothing,
		"no limit":                             parNoLimit,
		"Par inside Par":                       parNested,
		"a cancel before all have been begun":  parNotBegun,
		"children wait for the same flight":    parFlight,
		"many clocks, one ctx":                 parClocks,
		"an operation that panics is an error": operationPanics,
	}
}

func parLimit(s *suite) {
	var running, most atomic.Int32
	var begun [40]atomic.Int32
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 4, len(begun), func(ctx context.Context, i int) error {
			begun[i].Add(1)
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			return h.Sleep(ctx, short/50)
		})
	})
	require.EqualValues(s, 4, most.Load())
	for i := range begun {
		require.EqualValues(s, 1, begun[i].Load())
	}
}

func parError(s *suite) {
	var ended atomic.Int32
	began := time.Now()
	err := s.fails(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 4, 100, func(ctx context.Context, i int) error {
			defer ended.Add(1)
			if i == 3 {
				return errCaller
			}
			return h.Sleep(ctx, time.Minute)
		})
	})
	require.Equal(s, errCaller, err)
	require.EqualValues(s, 4, ended.Load())
	require.Less(s, time.Since(began), time.Second)
}

func parPanic(s *suite) {
	s.internal(s.fails(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 4, 4, func(ctx context.Context, i int) error {
			if i == 2 {
				panic("boom")
			}
			return h.Sleep(ctx, time.Minute)
		})
	}))
}

func parCtx(s *suite) {
	var ended atomic.Int32
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer time.AfterFunc(short, func() { cancel(errCaller) }).Stop()
	_, err := s.fixture.Run(ctx, func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 8, 8, func(ctx context.Context, i int) error {
			defer ended.Add(1)
			return h.Sleep(ctx, time.Minute)
		})
	})
	require.Equal(s, errCaller, err)
	require.EqualValues(s, 8, ended.Load())
}

func parNothing(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 4, 0, func(context.Context, int) error { return errCaller })
	})
}

func parNoLimit(s *suite) {
	var running, most atomic.Int32
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 0, 20, func(ctx context.Context, i int) error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			return h.Sleep(ctx, short)
		})
	})
	require.EqualValues(s, 20, most.Load())
}

func parNested(s *suite) {
	var n atomic.Int32
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 2, 4, func(ctx context.Context, i int) error {
			return h.Par(ctx, 2, 4, func(ctx context.Context, i int) error {
				n.Add(1)
				return h.Sleep(ctx, time.Millisecond)
			})
		})
	})
	require.EqualValues(s, 16, n.Load())
}

func parNotBegun(s *suite) {
	err := s.fails(func(ctx context.Context, h transport.Host) (any, error) {
		own, cancel := context.WithCancelCause(ctx)
		return nil, h.Par(own, 1, 3, func(context.Context, int) error {
			cancel(errCaller)
			return nil
		})
	})
	require.Equal(s, errCaller, err)
}

func parFlight(s *suite) {
	var calls atomic.Int32
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 8, 8, func(ctx context.Context, i int) error {
			v, err := h.Flight(ctx, "key", func(ctx context.Context) (any, error) {
				calls.Add(1)
				return "minted", h.Sleep(ctx, short)
			})
			if v != "minted" {
				return fmt.Errorf("%v, %w", v, err)
			}
			return err
		})
	})
	require.EqualValues(s, 1, calls.Load())
}

func parClocks(s *suite) {
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return nil, h.Par(ctx, 50, 50, func(ctx context.Context, i int) error {
			d := short + time.Duration(i)*time.Millisecond
			limited, _, _ := h.Limit(ctx, transport.ClockIdle, d)
			if err := h.Sleep(limited, time.Minute); err != (transport.Timeout{Clock: transport.ClockIdle, After: d}) {
				return fmt.Errorf("%v", err)
			}
			return nil
		})
	})
}

func operationPanics(s *suite) {
	defer func() {
		// Natively an operation is an ordinary call: whoever makes it contains it.
		if p := recover(); p != nil {
			require.Equal(s, "boom", p)
		}
	}()
	s.internal(s.fails(func(context.Context, transport.Host) (any, error) { panic("boom") }))
}

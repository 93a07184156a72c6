package pool_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/pool"
)

// wait is how long a busy machine may take.
const wait = 10 * time.Second

type item struct{ number int64 }

// factory makes items and counts what becomes of them.
type factory struct {
	made, dropped atomic.Int64
	stale         atomic.Int64 // items below it are of no use
	fails         atomic.Int64 // so many times from now
}

func (f *factory) options(size int) pool.Options[item] {
	return pool.Options[item]{
		Size: size, Pause: time.Millisecond, Retry: time.Millisecond, Look: 5 * time.Millisecond,
		Make: func(context.Context) (item, error) {
			if f.fails.Add(-1) >= 0 {
				return item{}, errors.New("not now")
			}
			return item{f.made.Add(1)}, nil
		},
		Drop:  func(item) { f.dropped.Add(1) },
		Fresh: func(x item) bool { return x.number >= f.stale.Load() },
	}
}

func ready(t *testing.T, p *pool.Pool[item], n int) {
	t.Helper()
	require.Eventually(t, func() bool { return p.State().Ready == n }, wait, time.Millisecond)
}

func TestPoolIsEmptyUntilItIsStartedAndThenKeepsItsSize(t *testing.T) {
	f := &factory{}
	p := pool.New(f.options(2))
	defer p.Close()
	_, ok := p.Take()
	require.False(t, ok)
	require.Zero(t, f.made.Load())
	p.Start()
	p.Start()
	ready(t, p, 2)
	one, ok := p.Take()
	require.True(t, ok)
	ready(t, p, 2)
	two, _ := p.Take()
	three, _ := p.Take()
	require.Equal(t, []int64{1, 2, 3}, []int64{one.number, two.number, three.number}, "none is handed out twice")
}

func TestPoolOfNoSizeMakesNothing(t *testing.T) {
	f := &factory{}
	p := pool.New(f.options(0))
	p.Start()
	require.Equal(t, pool.State{}, p.State())
	p.Close()
	require.Zero(t, f.made.Load())
}

func TestPoolDropsWhatIsOfNoUse(t *testing.T) {
	f := &factory{}
	p := pool.New(f.options(2))
	defer p.Close()
	p.Start()
	ready(t, p, 2)
	f.stale.Store(3)
	require.Eventually(t, func() bool { return f.dropped.Load() == 2 && p.State().Ready == 2 }, wait, time.Millisecond)
	x, ok := p.Take()
	require.True(t, ok)
	require.GreaterOrEqual(t, x.number, int64(3))
}

func TestPoolGoesOnAfterFailures(t *testing.T) {
	f := &factory{}
	f.fails.Store(3)
	p := pool.New(f.options(1))
	defer p.Close()
	p.Start()
	ready(t, p, 1)
}

func TestClosedPoolLeavesNothing(t *testing.T) {
	f := &factory{}
	p := pool.New(f.options(3))
	p.Start()
	ready(t, p, 3)
	p.Close()
	require.Equal(t, f.made.Load(), f.dropped.Load())
	_, ok := p.Take()
	require.False(t, ok)
	p.Start()
	require.Equal(t, 0, p.State().Ready)
}

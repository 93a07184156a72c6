package daemon

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAwakeClockDoesNotCountAPause(t *testing.T) {
	var pause atomic.Int64
	var looks atomic.Int64
	over := make(chan struct{})
	a := &awakeClock{left: 50 * time.Millisecond, step: 10 * time.Millisecond, then: func() { close(over) }}
	a.now = func() time.Time {
		if looks.Add(1) == 4 {
			pause.Store(int64(time.Hour))
		}
		return time.Now().Add(time.Duration(pause.Load()))
	}
	begun := time.Now()
	a.start()
	<-over
	require.GreaterOrEqual(t, time.Since(begun), 40*time.Millisecond)
	require.NotZero(t, pause.Load())
}

func TestStoppedAwakeClockStaysSilent(t *testing.T) {
	a := startAwakeClock(20*time.Millisecond, func() { t.Error("called") })
	a.stop()
	time.Sleep(60 * time.Millisecond)
	var none *awakeClock
	none.stop()
}

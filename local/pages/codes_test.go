package pages

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clock is a time that the test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestACodeIsGoodOnceAndSoon(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	codes := NewCodes(c.now)
	first, err := codes.New()
	require.NoError(t, err)
	second, err := codes.New()
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.GreaterOrEqual(t, len(first), 32)

	require.ErrorIs(t, codes.Use(""), ErrUnknown)
	require.ErrorIs(t, codes.Use(first+"x"), ErrUnknown)
	require.NoError(t, codes.Use(first))
	require.ErrorIs(t, codes.Use(first), ErrUsed)

	c.at = c.at.Add(CodeClock - 1)
	require.ErrorIs(t, codes.Use(first), ErrUsed)
	third, err := codes.New()
	require.NoError(t, err)
	c.at = c.at.Add(1)
	require.ErrorIs(t, codes.Use(second), ErrExpired)
	require.ErrorIs(t, codes.Use(first), ErrUsed, "the more useful of two truths")
	require.NoError(t, codes.Use(third))

	c.at = c.at.Add(remembered)
	require.ErrorIs(t, codes.Use(second), ErrUnknown)
	require.Empty(t, codes.made)
	require.Contains(t, ErrExpired.Error(), fmt.Sprintf("%d s", int(CodeClock.Seconds())))
}

func TestManyAtOnceSpendACodeOnce(t *testing.T) {
	codes := NewCodes(time.Now)
	code, err := codes.New()
	require.NoError(t, err)
	var good atomic.Int32
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if codes.Use(code) == nil {
				good.Add(1)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 1, good.Load())
}

func TestCodesAreBounded(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	codes := NewCodes(c.now)
	for range most {
		_, err := codes.New()
		require.NoError(t, err)
	}
	_, err := codes.New()
	require.ErrorIs(t, err, ErrMany)
	c.at = c.at.Add(remembered)
	_, err = codes.New()
	require.NoError(t, err)
}

//go:build linux

package isolation_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

func TestKillDoesNotWaitForAPauseUnderWay(t *testing.T) {
	e := open(t)
	for i := range 12 {
		b := start(t, e, isolation.Spec{ID: fmt.Sprintf("race%d", i)})
		paused := make(chan error, 1)
		go func() { paused <- b.Pause(context.Background()) }()
		// Before, within and after the time that a freeze takes.
		time.Sleep(time.Duration(i) * 150 * time.Microsecond)
		began := time.Now()
		require.NoError(t, b.Kill())
		require.Less(t, time.Since(began), 3*time.Second)
		if err := <-paused; err != nil {
			require.ErrorIs(t, err, isolation.ErrGone)
		}
	}
}

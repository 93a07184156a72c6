//go:build linux

package isolation_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// BenchmarkStart measures from Start to the first HTTP answer.
func BenchmarkStart(b *testing.B) {
	e := open(b)
	var took, killed []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		box, err := e.Start(context.Background(), isolation.Spec{ID: fmt.Sprint("bench", i)})
		require.NoError(b, err)
		resp, err := client(box).Get("http://box/health")
		require.NoError(b, err)
		_ = resp.Body.Close()
		require.Equal(b, http.StatusNoContent, resp.StatusCode)
		took = append(took, time.Since(began))
		b.StopTimer()
		killing := time.Now()
		require.NoError(b, box.Kill())
		killed = append(killed, time.Since(killing))
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	slices.Sort(killed)
	b.ReportMetric(float64(killed[len(killed)/2].Microseconds())/1000, "kill-p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

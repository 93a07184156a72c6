package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestWarmingLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	Warm()
	goleak.VerifyNone(t, before)
	require.NotPanics(t, Warm)
}

func BenchmarkWarm(b *testing.B) {
	for b.Loop() {
		Warm()
	}
}

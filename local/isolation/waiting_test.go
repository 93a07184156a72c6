//go:build linux

package isolation_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// Sandboxes come from processes that wait, where one fits; what a caller sees
// must not tell.
func TestSandboxesFromTheWaitingAreAsAsked(t *testing.T) {
	e := open(t)
	require.Eventually(t, e.DiskReady, time.Minute, 10*time.Millisecond)
	for _, spec := range []isolation.Spec{
		{ID: "plain"},
		{ID: "small", MemoryMB: 200, Pids: 100},
		{ID: "python", Template: "python-base"},
		{ID: "envs", Envs: map[string]string{"A": "b"}},
		{ID: "disk", DiskMB: 64},
	} {
		b := start(t, e, spec)
		r := run(t, b, "user", "hostname; ls /usr/local; python3 -c 'print(6*7)'; df -P / | tail -1 | wc -l")
		require.Equal(t, spec.ID+"\n42\n1\n", r.Out)
		limits := map[string]string{}
		for _, l := range b.Limits() {
			limits[l.Name] = l.Value
		}
		if spec.Pids != 0 {
			require.Equal(t, "100", limits["pids"])
		}
		require.NoError(t, b.Kill())
	}
}

// A caller that leaves while its disk is made says nothing about the machine.
func TestACancelledStartTakesNoLimitFromOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system for each sandbox")
	}
	e := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.Start(ctx, isolation.Spec{ID: "left", DiskMB: 64})
	require.ErrorIs(t, err, context.Canceled)
	l := limit(t, start(t, e, isolation.Spec{ID: "next", DiskMB: 64}), "disk")
	require.True(t, l.Enforced, l.Why)
}

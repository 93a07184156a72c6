//go:build linux

package isolation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/egress"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

func TestBoxIsWarmedAndThenItsOwners(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "waits", Background: true, Internet: true, Egress: relay(t, egress.Rules{})})
	require.NoError(t, b.Warm(t.Context()))
	require.Equal(t, "/tmp/warmed\n", run(t, b, "user", "ls /tmp/warmed").Out)
	spec := isolation.Spec{ID: "waits", Envs: map[string]string{"WHO": "me", "BIG": strings.Repeat("x", 40_000)}, Internet: true}
	require.True(t, b.Claims(spec))
	require.NoError(t, b.Claim(t.Context(), spec))
	require.Equal(t, "me 40000 waits\n", run(t, b, "user", `echo $WHO ${#BIG} $E2B_SANDBOX_ID`).Out)
}

func TestBoxThatStaysColdSaysWhy(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "cold", Envs: map[string]string{"COLD": "1"}})
	require.ErrorContains(t, b.Warm(t.Context()), "it stays cold")
	require.NoError(t, b.Kill())
	require.ErrorIs(t, b.Warm(t.Context()), isolation.ErrGone)
	require.ErrorIs(t, b.Claim(t.Context(), isolation.Spec{ID: "cold"}), isolation.ErrGone)
}

func TestBoxIsClaimedWithoutANetwork(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "closes", Internet: true, Egress: relay(t, egress.Rules{AllowOut: []string{"0.0.0.0/0"}})})
	require.NoError(t, b.Claim(t.Context(), isolation.Spec{ID: "closes"}))
	r := run(t, b, "user", "timeout 30 curl -sS https://example.com 2>&1; timeout 30 curl --noproxy '*' -sS http://93.184.216.34 2>&1")
	require.NotZero(t, r.Code)
	require.Contains(t, r.Out, offSays)
	require.Contains(t, r.Out, "93.184.216.34", "nor by an address")
}

func TestBoxIsClaimedWithItsOwnersLimits(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "small"})
	spec := isolation.Spec{ID: "small", MemoryMB: 128, Pids: 100, CPUs: 1}
	if !limit(t, b, "memory").Enforced || !limit(t, b, "cpu").Enforced {
		require.False(t, b.Claims(spec), "a process that runs already cannot be bounded otherwise")
		return
	}
	require.True(t, b.Claims(spec))
	require.NoError(t, b.Claim(t.Context(), spec))
	require.Equal(t, "134217728", limit(t, b, "memory").Value)
	require.True(t, limit(t, b, "memory").Enforced)
	require.NotEmpty(t, limit(t, b, "disk").Value)
	u, err := b.Usage()
	require.NoError(t, err)
	require.EqualValues(t, 128<<20, u.MemTotal)
	r := play(t, b, command{User: "user", Role: []string{"eat-memory", "400"}})
	require.NotZero(t, r.Code, r.Out)

	large := start(t, open(t), isolation.Spec{ID: "large"})
	require.NoError(t, large.Claim(t.Context(), isolation.Spec{ID: "large", MemoryMB: 2048}))
	require.Zero(t, play(t, large, command{User: "user", Role: []string{"eat-memory", "1400"}}).Code)
}

func TestBoxCannotBeClaimedForWhatWasSettledBefore(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "settled"})
	require.True(t, b.Claims(isolation.Spec{ID: "settled"}))
	require.False(t, b.Claims(isolation.Spec{ID: "settled", DiskMB: 100}))
	require.False(t, b.Claims(isolation.Spec{ID: "settled", Mounts: []isolation.Mount{{Source: "/usr", Target: "/mnt/x"}}}))
	require.False(t, b.Claims(isolation.Spec{ID: "settled", MemoryMB: 1}))
}

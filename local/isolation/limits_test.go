//go:build linux

package isolation_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

func limit(t *testing.T, b *isolation.Box, name string) isolation.Limit {
	t.Helper()
	for _, l := range b.Limits() {
		if l.Name == name {
			return l
		}
	}
	t.Fatal("no limit " + name)
	return isolation.Limit{}
}

func TestLimitsSayWhatHolds(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "say"})
	for _, name := range []string{"memory", "cpu", "pids", "disk"} {
		l := limit(t, b, name)
		require.NotEmpty(t, l.Value)
		require.True(t, l.Enforced || l.Why != "", "%+v", l)
	}
}

func TestLimitsForkBomb(t *testing.T) {
	e := open(t)
	b := start(t, e, isolation.Spec{ID: "bomb", Pids: 64})
	if !limit(t, b, "pids").Enforced {
		t.Skip(limit(t, b, "pids").Why)
	}
	neighbour := start(t, e, isolation.Spec{ID: "quiet", Pids: 64})
	for _, user := range []string{"user", "root"} {
		r := play(t, b, command{User: user, Role: []string{"fork-bomb"}})
		require.Zero(t, r.Code, r.Out)
		n, err := strconv.Atoi(strings.TrimSpace(r.Out))
		require.NoError(t, err)
		require.Less(t, n, 65)
		require.Equal(t, "ok\n", run(t, neighbour, "user", "echo ok").Out)
	}
	require.Eventually(t, func() bool { return run(t, b, "user", "echo ok").Out == "ok\n" }, 5*time.Second, 50*time.Millisecond)
}

func TestLimitsMemory(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "hungry", MemoryMB: 128})
	if l := limit(t, b, "memory"); !l.Enforced && !strings.Contains(l.Why, "RLIMIT") {
		t.Skip(l.Why)
	}
	r := play(t, b, command{User: "user", Role: []string{"eat-memory", "400"}})
	require.NotZero(t, r.Code, r.Out)
	require.Equal(t, "ok\n", run(t, b, "user", "echo ok").Out)
}

func TestLimitsSmallDisk(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "watched", DiskMB: 32})
	l := limit(t, b, "disk")
	if os.Geteuid() == 0 {
		// A size of its own gets a disk of its own, made at once.
		require.True(t, l.Enforced, l.Why)
		r := run(t, b, "user", "head -c 100000000 /dev/zero > ~/full")
		require.NotZero(t, r.Code)
		require.Contains(t, r.Out, "No space left on device")
		return
	}
	require.False(t, l.Enforced)
	require.Contains(t, l.Why, "watched")
	run(t, b, "user", "(head -c 100000000 /dev/zero > ~/full; sleep 100) >/dev/null 2>&1 &")
	require.Eventually(t, b.Full, 10*time.Second, 50*time.Millisecond)
	require.NoError(t, b.Kill())
}

func TestLimitsDiskIsEnforced(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting disks needs root")
	}
	e, err := isolation.Open(context.Background(), isolation.Config{StateDir: t.TempDir(), Pool: 1})
	require.NoError(t, err)
	defer e.Close()
	require.Eventually(t, e.DiskReady, 20*time.Second, 20*time.Millisecond)
	b := start(t, e, isolation.Spec{ID: "full"})
	l := limit(t, b, "disk")
	require.True(t, l.Enforced, l.Why)
	u := usage(t, b)
	require.InDelta(t, isolation.DefaultDiskMB<<20, u.DiskTotal, 200<<20)
	// The file system is full long before the host's is: blocks are reserved
	// without being written.
	r := run(t, b, "user", "fallocate -l 8G ~/big 2>&1; rm -f ~/big; fallocate -l 1G ~/fits && echo fits")
	require.Contains(t, r.Out, "No space left on device")
	require.Contains(t, r.Out, "fits")
	require.Equal(t, "ok\n", run(t, b, "root", "rm /home/user/*; touch /usr/bin/x && echo ok").Out)
}

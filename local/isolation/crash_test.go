//go:build linux

package isolation_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// TestEngineKilledLeavesNothing kills a process with sandboxes and looks for
// what is left after the next engine was opened.
func TestEngineKilledLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	loops := attachedLoops()
	before := count(t, dir)
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"hold-engine", dir, "5"}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(line, "ready "), line)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, f := range strings.Fields(line)[2:] {
		pid, err := strconv.Atoi(f)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return gone(pid) }, 5*time.Second, 5*time.Millisecond)
	}
	e, err := isolation.Open(context.Background(), isolation.Config{StateDir: dir, Pool: -1})
	require.NoError(t, err)
	for _, f := range strings.Fields(line)[1:2] {
		pid, err := strconv.Atoi(f)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return gone(pid) }, 5*time.Second, 5*time.Millisecond)
	}
	require.NoError(t, e.Close())
	require.Equal(t, []string{"skeleton"}, names(t, dir))
	after := count(t, dir)
	require.Equal(t, before.mounts, after.mounts)
	require.Zero(t, after.groups)
	require.Eventually(t, func() bool { return attachedLoops() <= loops }, 5*time.Second, 20*time.Millisecond)
}

// gone tells whether a process has ended, whether or not anybody waited for it.
func gone(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(b), ") Z ")
}

func attachedLoops() int {
	out, err := exec.Command("losetup", "-a").Output()
	if err != nil {
		return 0
	}
	return strings.Count(string(out), "disk.img")
}

func TestEngineSharesItsStateDir(t *testing.T) {
	dir := t.TempDir()
	one, err := isolation.Open(context.Background(), isolation.Config{StateDir: dir})
	require.NoError(t, err)
	defer one.Close()
	b := start(t, one, isolation.Spec{ID: "one"})
	two, err := isolation.Open(context.Background(), isolation.Config{StateDir: dir})
	require.NoError(t, err)
	start(t, two, isolation.Spec{ID: "one"})
	require.NoError(t, two.Close())
	require.Equal(t, "ok\n", run(t, b, "user", "echo ok").Out)
}

//go:build linux

package isolation_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// A server is often started by a program that leaves descriptors open: a lock
// file, a log, a directory. Through one of them a sandbox would reach the host.
func TestPromiseDescriptorsOfTheServersParentStayOutside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	require.NoError(t, os.WriteFile(path, []byte("host-secret"), 0o600))
	e := open(t)
	const file, dir = 200, 201
	for number, target := range map[int]string{file: path, dir: "/"} {
		fd, err := unix.Open(target, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		// Without close-on-exec, as one that was inherited.
		require.NoError(t, unix.Dup2(fd, number))
		require.NoError(t, unix.Close(fd))
		t.Cleanup(func() { _ = unix.Close(number) })
	}
	b := start(t, e, isolation.Spec{ID: "inherited"})
	for _, user := range both {
		r := run(t, b, user, "cat /proc/self/fd/200 2>/dev/null; ls /proc/self/fd/201/ 2>/dev/null; ls /proc/self/fd/")
		require.NotContains(t, r.Out, "host-secret", user)
		require.NotContains(t, r.Out, "200\n", user)
		require.NotContains(t, r.Out, "201\n", user)
		require.NotContains(t, r.Out, "proc", user)
		r = run(t, b, "root", "ls /proc/1/fd/")
		require.NotContains(t, r.Out, "200\n", "process 1")
		require.NotContains(t, r.Out, "201\n", "process 1")
	}
}

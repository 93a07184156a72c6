package inside

import (
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// inNewNetwork runs fn on a thread with a network namespace of its own, which
// ends with it.
func inNewNetwork(t *testing.T, fn func()) {
	if os.Getuid() != 0 {
		t.Skip("a network namespace of one thread needs root")
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is thrown away
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		defer func() { done <- nil }()
		fn()
	}()
	require.NoError(t, <-done)
}

// connect tries a connection from the calling thread and gives its error at once.
func connect(family int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Connect(fd, to)
}

func TestWithoutNetworkAllButLoopbackIsUnreachableAtOnce(t *testing.T) {
	inNewNetwork(t, func() {
		if err := NoNetwork(); err != nil {
			t.Error(err)
			return
		}
		begun := time.Now()
		require.ErrorIs(t, connect(unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{9, 9, 9, 9}, Port: 80}), unix.ENETUNREACH)
		require.ErrorIs(t, connect(unix.AF_INET6, &unix.SockaddrInet6{Addr: [16]byte{0x26, 0x20}, Port: 80}), unix.ENETUNREACH)
		require.ErrorIs(t, connect(unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: 80}), unix.ECONNREFUSED)
		require.ErrorIs(t, connect(unix.AF_INET6, &unix.SockaddrInet6{Addr: [16]byte{15: 1}, Port: 80}), unix.ECONNREFUSED)
		require.Less(t, time.Since(begun), time.Second)
	})
}

func TestSetupIsQuickAndLeavesNothingOpen(t *testing.T) {
	inNewNetwork(t, func() {
		begun := time.Now()
		r, mode, err := Setup()
		took := time.Since(begun)
		if err != nil {
			t.Error(err)
			return
		}
		require.NoError(t, r.Reason())
		require.Equal(t, ModeTransparent, mode)
		require.Empty(t, r.Env())
		require.NotNil(t, net.ParseIP(r.Nameserver()))
		require.Less(t, took, 100*time.Millisecond)
		t.Log("setup took", took)
		require.NoError(t, r.Close())
		require.ErrorIs(t, connect(unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{9, 9, 9, 9}, Port: 80}), unix.ECONNREFUSED,
			"without a relay a connection is refused, not left waiting")
	})
}

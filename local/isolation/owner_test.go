//go:build linux

package isolation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// takeAllWatches holds as many inotify instances as it gets, until it is killed.
const takeAllWatches = `import ctypes, os, time
l = ctypes.CDLL(None)
n = 0
while l.inotify_init1(0) >= 0: n += 1
print(n, flush=True)
`

func TestPromiseWatchesAreNotTakenFromOthers(t *testing.T) {
	e := open(t)
	greedy, neighbour := start(t, e, isolation.Spec{ID: "greedy"}), start(t, e, isolation.Spec{ID: "neighbour"})
	for _, user := range both {
		r := run(t, greedy, user, "python3 -c '"+takeAllWatches+"time.sleep(60)' >/tmp/n 2>&1 & while [ ! -s /tmp/n ]; do sleep 0.05; done; cat /tmp/n; rm /tmp/n")
		require.Zero(t, r.Code, r.Out)
		require.NotEqual(t, "0\n", r.Out)
		r = run(t, neighbour, user, "python3 -c '"+takeAllWatches+"'")
		require.Zero(t, r.Code, r.Out)
		require.NotEqual(t, "0\n", r.Out)
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		require.NoError(t, err, "the host's own")
		require.NoError(t, unix.Close(fd))
		run(t, greedy, "root", "pkill python3")
	}
}

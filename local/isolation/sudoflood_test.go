//go:build linux

package isolation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// crowd leaves process 1 without descriptors while many ask for sudo.
const crowd = `import resource, socket, time
few = resource.prlimit(1, resource.RLIMIT_NOFILE)
resource.prlimit(1, resource.RLIMIT_NOFILE, (32, few[1]))
held = []
for _ in range(64):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("/run/sandboxc/sudo.sock")
    held.append(s)
time.sleep(0.3)
resource.prlimit(1, resource.RLIMIT_NOFILE, few)
`

func TestSudoOutlivesACrowd(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "crowd"})
	r := run(t, b, "root", "python3 -c '"+crowd+"'")
	require.Zero(t, r.Code, r.Out)
	r = run(t, b, "user", "timeout 10 sudo id -u")
	require.Equal(t, "0\n", r.Out)
}

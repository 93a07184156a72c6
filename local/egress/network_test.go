package egress

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRegistryOfThisMachine makes one small request to the first registry of this
// machine's own tools, from inside. It is the only test that leaves loopback.
func TestRegistryOfThisMachine(t *testing.T) {
	if os.Getenv("SANDBOX_TEST_NETWORK") == "" {
		t.Skip("set SANDBOX_TEST_NETWORK=1 to reach a registry")
	}
	needsNamespaces(t, "curl")
	w := newWorld(t)
	w.host = NewHost(HostOptions{Registries: true, Env: os.Environ()})
	var host string
	for _, hostport := range w.host.Registries() {
		if h, port, err := net.SplitHostPort(hostport); err == nil && port == "443" {
			host = h
		}
	}
	if host == "" {
		t.Skip("no tool of this machine has a registry")
	}
	w.open(Rules{})
	out := w.run("curl -sS -k -I --max-time 20 https://" + host + "/ | head -1")
	require.True(t, strings.HasPrefix(out, "HTTP/"), out)
	w.policy.host.registries = func() endpoints { return nil }
	t.Log(w.run("curl -sS -k -I --max-time 20 https://" + host + "/ | head -1"))
}

package egress

import (
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
	index := endpoints{}
	for _, u := range newTools(os.Environ(), "/").pip() {
		index.add(u)
	}
	if len(index) == 0 {
		t.Skip("pip of this machine has no index")
	}
	url := "https://" + index.list()[len(index)-1] + "/"
	w.open(Rules{})
	out := w.run("curl -sS -k -I --max-time 20 " + url + " | head -1")
	require.True(t, strings.HasPrefix(out, "HTTP/"), out)
}

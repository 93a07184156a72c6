package egress

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRulesThatReachTheHostAreFound(t *testing.T) {
	h := NewHost(HostOptions{})
	for _, entry := range []string{"127.0.0.1", "127.0.0.0/8", "10.1.2.3", "192.168.0.0/16", "169.254.169.254", "::1", "fd00::/8", "100.64.0.1/32", "0.0.0.1"} {
		require.Contains(t, h.ReachesHost(Rules{AllowOut: []string{"9.9.9.9", entry}}), entry)
	}
	for _, entry := range []string{"9.9.9.9", "0.0.0.0/0", "::/0", "8.0.0.0/7", "site.test", "*.site.test"} {
		require.Empty(t, h.ReachesHost(Rules{AllowOut: []string{entry}}), entry)
	}
	require.NotEmpty(t, h.ReachesHost(Rules{EgressProxy: &Proxy{Address: "9.9.9.9:1080"}}))
}

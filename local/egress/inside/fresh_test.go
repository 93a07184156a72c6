package inside

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheHostsOwnNetworkIsNeverTouched(t *testing.T) {
	if err := mustBeFresh(); err == nil {
		t.Skip("this machine has no interface but lo")
	}
	before := networkOf(t)
	_, _, err := Setup()
	require.ErrorIs(t, err, ErrNotFresh)
	_, err = SetupProxy()
	require.ErrorIs(t, err, ErrNotFresh)
	require.Equal(t, before, networkOf(t))
}

func networkOf(t *testing.T) string {
	t.Helper()
	route, err := os.ReadFile("/proc/net/route")
	require.NoError(t, err)
	addresses, err := os.ReadFile("/proc/net/fib_trie")
	require.NoError(t, err)
	return string(route) + string(addresses)
}

package runner

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPortsRestBeforeTheyAreUsedAgain(t *testing.T) {
	seen := map[string]bool{}
	for range rest {
		l, err := listen()
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.False(t, seen[l.Addr().String()])
		seen[l.Addr().String()] = true
	}
}

//go:build linux

package native_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/local/guest"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// TestMain plays process 1 of a sandbox when it is started as one.
func TestMain(m *testing.M) {
	if handled, code := guest.Main(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func reopen(t *testing.T, r *real, text []byte) *native.Sandbox {
	t.Helper()
	h, err := handle.FromJSON(text)
	require.NoError(t, err)
	s, err := r.client.Open(h)
	require.NoError(t, err)
	return s
}

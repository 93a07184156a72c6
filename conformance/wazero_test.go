package conformance_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/wasm/host"
	"github.com/agent-sandbox/agent-sandbox/wasm/instance"
)

// TestWazero runs the built artifact.
func TestWazero(t *testing.T) {
	artifact, err := instance.Load(wasm(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, artifact.Close()) })
	conformFrames(t, "wazero", func() (host.Machine, error) { return artifact.Machine(instance.World{Stderr: os.Stderr}) })
}

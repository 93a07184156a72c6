package conformance_test

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/wasm/instance"
)

// artifacts is the one core.wasm of a run.
type artifacts struct {
	once sync.Once
	dir  string
	path string
	err  error
}

var built artifacts

// wasm is the path of core.wasm, built at the first use. Programs find it by the
// variable.
func wasm(t *testing.T) string {
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "conformance-"); built.err != nil {
			return
		}
		if built.path, built.err = instance.Build("..", built.dir); built.err == nil {
			built.err = os.Setenv(instance.Variable, built.path)
		}
	})
	require.NoError(t, built.err)
	return built.path
}

func (a *artifacts) remove() {
	if a.dir != "" {
		_ = os.RemoveAll(a.dir)
	}
}

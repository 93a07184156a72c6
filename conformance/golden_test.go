package conformance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/conformance/driver"
	"github.com/agent-sandbox/agent-sandbox/conformance/runner"
	"github.com/agent-sandbox/agent-sandbox/core/method"
)

// Every method that makes requests has a file that says which. RECORD=1 writes
// what the Go SDK sends into the files, for a person to judge.
func TestEveryMethodHasAGoldenFile(t *testing.T) {
	recording := os.Getenv("RECORD") != ""
	for _, m := range method.Table() {
		if m.Shape == method.Inner || m.Shape == method.Inline || m.Name == "sandbox.open" {
			continue // no request, or none that a user makes
		}
		path := filepath.Join("golden", m.Name+".json")
		if recording {
			require.NoError(t, runner.Record(driver.Native(), path, t.TempDir()))
		}
		require.FileExists(t, path)
	}
}

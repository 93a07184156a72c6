package instance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Variable names a core.wasm that is built already.
const Variable = "AGENT_SANDBOX_WASM"

// Build gives the path of a core.wasm: the one that Variable names, or one built
// into dir from the sources at root.
func Build(root, dir string) (string, error) {
	if path := os.Getenv(Variable); path != "" {
		return path, nil
	}
	path := filepath.Join(dir, "core.wasm")
	out, err := exec.Command(filepath.Join(root, "scripts", "build-wasm"), path).CombinedOutput() //nolint:gosec // our own script
	if err != nil {
		return "", fmt.Errorf("build-wasm: %w: %s", err, out)
	}
	return path, nil
}

package conformance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/conformance/runner"
	"github.com/agent-sandbox/agent-sandbox/wasm/instance"
)

// program is a driver in another language, and what has to be built for it.
type program struct {
	runner.Start
	needs []string // paths from the root of the repository
}

func TestNode(t *testing.T) {
	conformProgram(t, program{
		Start: runner.Start{Name: "node", Command: []string{"node", "bindings/js/conformance/node.mjs"}},
		needs: []string{"bindings/js/conformance/node.mjs", "bindings/js/dist/node.mjs"},
	})
}

func TestChromium(t *testing.T) {
	conformProgram(t, program{
		Start: runner.Start{Name: "chromium", Command: []string{"node", "bindings/js/conformance/chromium.mjs"}, Page: true},
		needs: []string{"bindings/js/conformance/chromium.mjs", "bindings/js/dist/browser.mjs"},
	})
}

func TestPythonAsync(t *testing.T) { conformProgram(t, python("async")) }

func TestPythonSync(t *testing.T) { conformProgram(t, python("sync")) }

func python(twin string) program {
	interpreter := os.Getenv("PYTHON")
	if interpreter == "" {
		interpreter = ".tmp/python/bin/python"
	}
	return program{
		Start: runner.Start{Name: "python-" + twin, Command: []string{interpreter, "bindings/python/conformance/driver.py", twin}},
		needs: []string{"bindings/python/conformance/driver.py"},
	}
}

// conformProgram runs all cases with a program. One that is not built is skipped,
// but where CI is set.
func conformProgram(t *testing.T, p program) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	if missing := p.missing(root); missing != "" {
		if os.Getenv("CI") != "" {
			t.Fatalf("the driver %s is not built: %s is missing", p.Name, missing)
		}
		t.Skipf("the driver %s is not built: %s is missing (scripts/bindings builds it)", p.Name, missing)
	}
	home := t.TempDir()
	p.Dir = root
	p.Env = []string{
		instance.Variable + "=" + wasm(t), "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"TZ=Asia/Shanghai", "NO_PROXY=*", "PYTHONPATH=" + filepath.Join(root, "bindings/python/src"),
	}
	d, err := runner.StartProgram(p.Start)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	conform(t, d)
}

// missing is the first thing that has to be there and is not.
func (p program) missing(root string) string {
	at := p.Command[0]
	if filepath.Base(at) != at && !filepath.IsAbs(at) {
		at = filepath.Join(root, at)
	}
	if _, err := exec.LookPath(at); err != nil {
		return p.Command[0]
	}
	for _, path := range p.needs {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			return path
		}
	}
	return ""
}

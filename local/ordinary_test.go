//go:build linux

package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/template"
)

// ordinaryID is the account that tests run as once more.
const ordinaryID = 65534

// ordinaryTemplates names the templates that such tests use.
const ordinaryTemplates = "TEST_ORDINARY_TEMPLATES"

// TestOrdinaryUserKeepsInterpretersReady runs the tests of the interpreter's
// template and its pool again as an ordinary user, who has one id, with a template
// that this user has built: another's is refused.
func TestOrdinaryUserKeepsInterpretersReady(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("runs the tests as another account, which needs root")
	}
	if os.Getenv("SOAK") == "" {
		t.Skip("for full counts: it builds the template from the registries")
	}
	dir, err := os.MkdirTemp("", "ordinary")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	home := filepath.Join(dir, "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	require.NoError(t, os.Chown(home, ordinaryID, ordinaryID))
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cli := filepath.Join(dir, "sandboxc")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", cli, "../cmd/sandboxc").CombinedOutput()
	require.NoError(t, err, string(out))
	ordinary := func(name string, args ...string) string {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home,
			ordinaryTemplates+"="+template.Dir(filepath.Join(home, "agent-sandbox")))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryID, Gid: ordinaryID}}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	ordinary(cli, "template", "build", "--quiet", template.CodeInterpreter)
	binary := filepath.Join(dir, "local.test")
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(binary, self, 0o755)) //nolint:gosec // another account runs it
	said := ordinary(binary, "-test.v", "-test.run", "^Test(SandboxesThatWaitedShareNothing|SandboxThatWaitedCanBeGiven|CodeInterpreterTemplateHas)")
	require.Equal(t, 3, strings.Count(said, "--- PASS: Test"), said)
}

// interpreterTemplates is a directory that has the interpreter's template.
func interpreterTemplates(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv(ordinaryTemplates); dir != "" {
		return dir
	}
	script := exec.CommandContext(t.Context(), "../scripts/interpreter-template")
	script.Stderr = os.Stderr
	out, err := script.Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

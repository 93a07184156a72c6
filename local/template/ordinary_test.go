//go:build linux

package template_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/template"
)

// ordinaryID is the account that the tests run as once more.
const ordinaryID = 65534

// TestOrdinaryUser builds as an ordinary user, who has one id.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("runs the tests as another account, which needs root")
	}
	dir, err := os.MkdirTemp("", "ordinary")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	home := filepath.Join(dir, "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	require.NoError(t, os.Chown(home, ordinaryID, ordinaryID))
	binary := filepath.Join(dir, "template.test")
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(binary, self, 0o755)) //nolint:gosec // another account runs it
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.run", "^Test(Built|Failed|Cancelled|Packages|Shipped)")
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "SOAK=" + os.Getenv("SOAK")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryID, Gid: ordinaryID}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestPackages")
}

// TestShippedTemplateWorks builds it from the registries, which takes a minute.
// Run by root, other tests do the same with one that they share.
func TestShippedTemplateWorks(t *testing.T) {
	if os.Getenv("SOAK") == "" || os.Geteuid() == 0 {
		t.Skip("for full counts, as an ordinary user")
	}
	needPython(t)
	b := newBench(t)
	r, _ := template.Shipped(template.CodeInterpreter)
	_, l, err := b.build(r, template.Options{Getenv: os.Getenv, Environ: os.Environ()})
	require.NoError(t, err, l.text.String())
	require.Equal(t, "ok\n", b.inside(template.CodeInterpreter, `python -c 'import ipykernel, pandas, matplotlib.pyplot, e2b_charts; print("ok")' && deno --version >/dev/null`))
}

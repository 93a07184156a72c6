package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// ordinary is sandboxc of a user without rights.
func ordinary(t *testing.T) *program {
	t.Helper()
	needRoot(t)
	p := newProgram(t)
	dir, err := os.MkdirTemp("", "ordinary-*") // the test's own directories cannot be entered by others
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	copyProgram(t, p.path, filepath.Join(dir, "sandboxc"))
	const nobody = 65534
	p.path, p.home = filepath.Join(dir, "sandboxc"), filepath.Join(dir, "home")
	p.as = &syscall.Credential{Uid: nobody, Gid: nobody}
	require.NoError(t, os.Mkdir(p.home, 0o700))
	require.NoError(t, os.Chown(p.home, nobody, nobody))
	t.Cleanup(func() { stopServers(t, p.state()) }) // before the directory goes
	return p
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	require.NoError(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}

func TestOrdinaryUserRuns(t *testing.T) {
	p := ordinary(t)
	if _, _, code := p.output("doctor"); code != 0 {
		t.Skip("this machine refuses namespaces to ordinary users")
	}
	out, errs, code := p.output("run", "--", "python3", "-c", "import os; print(6*7, os.getuid())")
	require.Equal(t, 0, code, errs)
	require.Equal(t, "42 1000\n", out)
	_, _, code = p.output("run", "--", "sh", "-c", "exit 7")
	require.Equal(t, 7, code)
	p.leavesNothing()
}

func TestOrdinaryUserServesAndKeepsSecrets(t *testing.T) {
	p := ordinary(t)
	if _, _, code := p.output("doctor"); code != 0 {
		t.Skip("this machine refuses namespaces to ordinary users")
	}
	id, errs, code := p.output("create", "-q")
	require.Equal(t, 0, code, errs)
	out, errs, code := p.output("exec", strings.TrimSpace(id), "--", "id", "-un")
	require.Equal(t, 0, code, errs)
	require.Equal(t, "user\n", out)
	info, err := os.Stat(filepath.Join(p.state(), "api_key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(p.state())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

//go:build linux

package isolation_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

func TestPromiseNoSetIDProgramAppearsOnTheHost(t *testing.T) {
	host := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(host), 0o755))
	e := open(t)
	b := start(t, e, isolation.Spec{ID: "setid", Mounts: []isolation.Mount{{Source: host, Target: "/mnt/x", Write: true}}})
	for name, script := range map[string]string{
		"chmod":  `cp /bin/sh s && chmod 4755 s`,
		"fchmod": `python3 -c 'import os; os.fchmod(os.open("f", os.O_CREAT|os.O_RDWR, 0o755), 0o6755)'`,
		"open":   `python3 -c 'import os; os.open("o", os.O_CREAT|os.O_RDWR, 0o4755)'`,
		"mknod":  `python3 -c 'import os; os.mknod("n", 0o104755)'`,
		"setgid": `cp /bin/sh g && chmod 2755 g`,
		"openat2": `python3 -c 'import ctypes, struct, sys
how = ctypes.create_string_buffer(struct.pack("QQQ", 0o102, 0o4755, 0))
sys.exit(ctypes.CDLL(None).syscall(437, -100, b"p", how, 24) < 0)'`,
	} {
		require.NotZero(t, run(t, b, "user", "cd /mnt/x && "+script).Code, name)
	}
	files, err := filepath.Glob(filepath.Join(host, "*"))
	require.NoError(t, err)
	for _, f := range files {
		fi, err := os.Stat(f)
		require.NoError(t, err)
		require.Zero(t, fi.Mode()&(os.ModeSetuid|os.ModeSetgid), f)
	}
	r := run(t, b, "user", "cd /mnt/x && echo hi > ok && chmod 1755 ok && ls -l ok && cp ok ok2 && tar cf t.tar ok && tar xf t.tar")
	require.Zero(t, r.Code, r.Out)
	plain := start(t, e, isolation.Spec{ID: "plain"})
	require.Zero(t, run(t, plain, "user", "cp /bin/sh s && chmod 4755 s").Code, "packages need it")
}

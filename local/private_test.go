//go:build linux

package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStateDirectoryIsOursAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "state")
	require.NoError(t, makePrivate(dir))
	require.NoError(t, os.Chmod(dir, 0o777))
	require.NoError(t, makePrivate(dir))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	if os.Geteuid() != 0 {
		return
	}
	require.NoError(t, os.Chown(dir, 1234, 1234))
	require.ErrorContains(t, makePrivate(dir), "another user")
}

//go:build linux

package template

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestNoTemplateIsBuiltOnAnOverlay(t *testing.T) {
	dir := t.TempDir()
	options := ""
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		if name != "merged" {
			options += name + "dir=" + filepath.Join(dir, name) + ","
		}
	}
	merged := filepath.Join(dir, "merged")
	if err := unix.Mount("overlay", merged, "overlay", 0, options[:len(options)-1]); err != nil {
		t.Skip("no overlay can be mounted here:", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(merged, 0)) })
	s, err := Open(Dir(merged))
	require.NoError(t, err)
	_, err = s.Build(t.Context(), Recipe{Name: "mine", Steps: []Step{{Run: "true"}}}, Options{StateDir: merged})
	var place *PlaceError
	require.ErrorAs(t, err, &place)
	require.Contains(t, err.Error(), merged)
}

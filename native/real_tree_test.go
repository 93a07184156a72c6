//go:build linux

package native_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// picture describes a tree: content of files, targets of links, "x" for what can
// be executed.
func picture(t *testing.T, dir string) map[string]string {
	t.Helper()
	seen := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		name, err := filepath.Rel(dir, p)
		require.NoError(t, err)
		switch {
		case d.IsDir():
			seen[name] = "directory"
		case d.Type()&fs.ModeSymlink != 0:
			seen[name], err = os.Readlink(p)
			require.NoError(t, err)
		default:
			b, err := os.ReadFile(p)
			require.NoError(t, err)
			info, err := d.Info()
			require.NoError(t, err)
			seen[name] = string(b)
			if info.Mode()&0o111 != 0 {
				seen[name] += " x"
			}
		}
		return nil
	}))
	return seen
}

func trees(t *testing.T, s *native.Sandbox) {
	src := filepath.Join(t.TempDir(), "src")
	for name, text := range map[string]string{
		"a.txt": "alpha", "empty": "", "deep/er/b": "beta", "with space/文件.txt": "gamma", "100%/x+y&z": "delta", "-rf": "dash",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(src, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(src, name), []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(src, "run.sh"), []byte("#!/bin/sh\necho ran"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(src, "nothing/here"), 0o755))
	require.NoError(t, os.Symlink("deep/er/b", filepath.Join(src, "link")))

	report, err := s.Files.Upload(t.Context(), src, "tree", native.CopyOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Skipped)
	require.Equal(t, int64(len("alpha")+len("beta")+len("gamma")+len("delta")+len("dash")+len("#!/bin/sh\necho ran")), report.Bytes)
	require.Equal(t, 6, report.Directories)
	out, err := s.Commands.Run(t.Context(), "tree/run.sh; cat tree/link", core.RunOptions{})
	require.NoError(t, err)
	require.Equal(t, "ran\nbeta", out.Stdout())

	dst := filepath.Join(t.TempDir(), "dst")
	moved := map[string]int64{}
	down, err := s.Files.Download(t.Context(), "tree", filepath.Join(t.TempDir(), "silent"), native.CopyOptions{})
	require.NoError(t, err)
	require.Equal(t, report, down)
	_, err = s.Files.Download(t.Context(), "tree", dst, native.CopyOptions{Progress: func(p string, n int64) { moved[p] += n }})
	require.NoError(t, err)
	require.Equal(t, picture(t, src), picture(t, dst))
	require.Equal(t, int64(len("alpha")), moved["/home/user/tree/a.txt"])
}

func hostileLinks(t *testing.T, s *native.Sandbox) {
	_, err := s.Commands.Run(t.Context(), "mkdir h && cd h && ln -s /etc out && ln -s ../.. up && mkdir in && ln -s in ok && echo 1 >in/f && mkfifo pipe", core.RunOptions{Check: true})
	require.NoError(t, err)
	parent := t.TempDir()
	dst := filepath.Join(parent, "dst")
	// A link that waits in the target must not be written through either.
	require.NoError(t, os.Mkdir(dst, 0o755))
	require.NoError(t, os.Symlink(parent, filepath.Join(dst, "in")))
	_, err = s.Files.Download(t.Context(), "h", dst, native.CopyOptions{})
	require.Error(t, err)
	require.NoFileExists(t, filepath.Join(parent, "f"))

	require.NoError(t, os.Remove(filepath.Join(dst, "in")))
	report, err := s.Files.Download(t.Context(), "h", dst, native.CopyOptions{})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"/home/user/h/out", "/home/user/h/up", "/home/user/h/pipe"}, report.Skipped)
	require.Equal(t, map[string]string{".": "directory", "in": "directory", "in/f": "1\n", "ok": "in"}, picture(t, dst))
}

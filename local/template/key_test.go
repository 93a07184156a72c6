//go:build linux

package template

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// keyOf is the key of a recipe's only step.
func keyOf(t *testing.T, parent string, env map[string]string, s Step) string {
	t.Helper()
	content, err := gather(s.Files, t.TempDir())
	require.NoError(t, err)
	key, err := layerKey(parent, env, &s, content)
	require.NoError(t, err)
	return key
}

func TestALayerIsKnownByAllThatGoesIntoIt(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	write := func(name, content string, mode os.FileMode) {
		path := filepath.Join(source, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		require.NoError(t, os.Chmod(path, mode))
	}
	write("a", "one", 0o644)
	copying := Step{Files: []File{{Path: "/srv", Source: source}}}
	seen := map[string]string{}
	add := func(what, key string) {
		require.NotContains(t, seen, key, what)
		seen[key] = what
	}
	run := Step{Title: "t", Run: "true"}
	add("a command", keyOf(t, "p", nil, run))
	require.Contains(t, seen, keyOf(t, "p", nil, Step{Title: "another title", Run: "true", User: "root"}))
	add("another parent", keyOf(t, "q", nil, run))
	add("another command", keyOf(t, "p", nil, Step{Run: "false"}))
	add("another user", keyOf(t, "p", nil, Step{Run: "true", User: "user"}))
	add("a variable", keyOf(t, "p", map[string]string{"A": "b"}, run))
	add("a copy", keyOf(t, "p", nil, copying))
	require.Contains(t, seen, keyOf(t, "p", nil, copying))
	add("another place", keyOf(t, "p", nil, Step{Files: []File{{Path: "/opt", Source: source}}}))
	write("a", "two", 0o644)
	add("other content", keyOf(t, "p", nil, copying))
	write("a", "two", 0o755)
	add("another mode", keyOf(t, "p", nil, copying))
	write("b/c", "", 0o644)
	add("another file", keyOf(t, "p", nil, copying))
	require.NoError(t, os.Symlink("a", filepath.Join(source, "link")))
	add("a link", keyOf(t, "p", nil, copying))
}

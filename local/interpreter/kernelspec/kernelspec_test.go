package kernelspec

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// install puts a kernel into dir.
func install(t *testing.T, dir, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(content), 0o644))
}

func TestPlacesAreJupyters(t *testing.T) {
	require.Equal(t, []string{
		"/a/kernels", "/b/kernels", "/home/u/.local/share/jupyter/kernels", "/opt/venv/share/jupyter/kernels",
		"/usr/share/jupyter/kernels", "/usr/local/share/jupyter/kernels", "/home/u/.ipython/kernels",
	}, Places(map[string]string{"JUPYTER_PATH": "/a:/b:relative", "HOME": "/home/u", "PATH": "/opt/venv/bin:/usr/bin:/usr/sbin"}))
	require.Contains(t, Places(map[string]string{"JUPYTER_DATA_DIR": "/data"}), "/data/kernels")
	require.Contains(t, Places(map[string]string{"XDG_DATA_HOME": "/xdg"}), "/xdg/jupyter/kernels")
	require.NotEmpty(t, Places(nil))
}

func TestListTakesTheFirstOfAName(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	install(t, first+"/Python3", `{"argv":["python","-f","{connection_file}"],"language":"python","interrupt_mode":"signal"}`)
	install(t, second+"/python3", `{"argv":["other"],"language":"python"}`)
	install(t, second+"/xeus", `{"argv":["xeus","{connection_file}"],"language":"C++","interrupt_mode":"message"}`)
	install(t, second+"/broken", `{"argv":`)
	install(t, second+"/empty", `{"argv":[]}`)
	list := List([]string{"/does/not/exist", first, second})
	require.Len(t, list, 2)
	require.Equal(t, "python3", list[0].Name)
	require.Equal(t, "python", list[0].Argv[0])
	require.False(t, list[0].ByMessage)
	require.True(t, list[1].ByMessage)

	s, ok := For("c++", list)
	require.True(t, ok)
	require.Equal(t, "xeus", s.Name)
	_, ok = For("r", list)
	require.False(t, ok)
}

func TestForPrefersWhatIsGood(t *testing.T) {
	list := []Spec{{Name: "mine", Language: "python"}, {Name: "python3", Language: "python"}, {Name: "tslab", Language: "typescript"}, {Name: "deno", Language: "typescript"}, {Name: "ir", Language: "R"}}
	for language, want := range map[string]string{"python": "python3", "javascript": "deno", "typescript": "deno", "r": "ir", "mine": "mine", "tslab": "tslab"} {
		s, ok := For(language, list)
		require.True(t, ok, language)
		require.Equal(t, want, s.Name)
	}
}

func TestWhatIsThereIsNamedByLanguages(t *testing.T) {
	list := []Spec{{Name: "python3", Language: "python"}, {Name: "deno", Language: "typescript"}, {Name: "xsql", Language: "sql"}}
	require.Equal(t, []string{"javascript", "python", "typescript", "xsql"}, Languages(list))
	require.Empty(t, Languages(nil))
}

func TestLanguagesHaveOneName(t *testing.T) {
	for in, want := range map[string]string{"": "python", "py": "python", "Python": "python", "python3": "python", "js": "javascript", " TS ": "typescript", "R": "r", "bash": "bash", "My-Kernel": "my-kernel"} {
		require.Equal(t, want, Language(in), in)
	}
}

func TestCommandUsesItsOwnPrefix(t *testing.T) {
	prefix := t.TempDir()
	dir := prefix + "/share/jupyter/kernels/python3"
	install(t, dir, `{"argv":["python","{resource_dir}/x","-f","{connection_file}"],"env":{"A":"${HOME}/a","B":"${NOPE}"}}`)
	s, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"python", dir + "/x", "-f", "/c"}, s.Command("/c"))
	require.NoError(t, os.MkdirAll(prefix+"/bin", 0o755))
	require.NoError(t, os.WriteFile(prefix+"/bin/python", nil, 0o755))
	require.Equal(t, prefix+"/bin/python", s.Command("/c")[0])
	require.True(t, s.IsPython())
	require.Equal(t, map[string]string{"A": "/h/a", "B": "${NOPE}"}, s.Variables(map[string]string{"HOME": "/h"}))
}

func TestDenoIsInterruptedByMessage(t *testing.T) {
	dir := t.TempDir() + "/deno"
	install(t, dir, `{"argv":["/usr/local/bin/deno","jupyter","--kernel","--conn","{connection_file}"],"language":"typescript"}`)
	s, err := Read(dir)
	require.NoError(t, err)
	require.True(t, s.ByMessage)
	require.False(t, s.IsPython())
}

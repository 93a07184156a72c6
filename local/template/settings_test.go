package template

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// machine is a home directory and variables of whoever builds.
func machine(t *testing.T, files map[string]string, env map[string]string) *settings {
	t.Helper()
	home := t.TempDir()
	for name, content := range files {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return hostSettings(func(name string) string {
		if name == "HOME" {
			return home
		}
		return env[name]
	})
}

func TestPipSettingsOfTheHostServeTheBuild(t *testing.T) {
	for name, c := range map[string]struct {
		files, env map[string]string
		want       []string
		never      []string
	}{
		"a file": {
			files: map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://u:p@mirror/simple\nextra-index-url =\n  https://one/\n  https://two/\nproxy = http://proxy:1\n[freeze]\ntimeout = 3\n"},
			want:  []string{"index-url = https://u:p@mirror/simple\n", "extra-index-url = https://one/\n\thttps://two/\n"},
			never: []string{"proxy", "timeout"},
		},
		"a variable wins": {
			files: map[string]string{".pip/pip.conf": "[install]\nindex_url: https://file/\n"},
			env:   map[string]string{"PIP_INDEX_URL": "https://variable/", "PIP_EXTRA_INDEX_URL": "https://a/ https://b/"},
			want:  []string{"index-url = https://variable/\n", "extra-index-url = https://a/\n\thttps://b/\n"},
			never: []string{"file"},
		},
		"loopback has another name": {
			env:   map[string]string{"PIP_INDEX_URL": "http://u:p@localhost:3141/root/pypi", "PIP_EXTRA_INDEX_URL": "http://[::1]:8080/x https://far/", "PIP_NO_INDEX": "0"},
			want:  []string{"index-url = http://u:p@host-loopback.internal:3141/root/pypi\n", "\thttps://far/\n", "http://host-loopback.internal:8080/x\n", "trusted-host = host-loopback.internal\n", "no-index = 0\n"},
			never: []string{"localhost", "::1"},
		},
		"the later file wins": {
			files: map[string]string{".pip/pip.conf": "[global]\nindex-url=https://old/\n", ".config/pip/pip.conf": "# note\n[global]\nindex-url=https://new/\n"},
			want:  []string{"index-url = https://new/\n"},
			never: []string{"old"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(machine(t, c.files, c.env).pip)
			for _, w := range c.want {
				require.Contains(t, got, w)
			}
			for _, n := range c.never {
				require.NotContains(t, got, n)
			}
		})
	}
}

func TestDirectoriesWithPackagesAreShownInside(t *testing.T) {
	dir := t.TempDir()
	s := machine(t, nil, map[string]string{"PIP_FIND_LINKS": "file://" + dir + " https://wheels/ /no/such/directory"})
	require.Equal(t, []string{dir}, s.links)
	require.Contains(t, string(s.pip), "find-links = "+linksDir+"/0\n\thttps://wheels/\n")
}

func TestNpmSettingsOfTheHostServeTheBuild(t *testing.T) {
	s := machine(t, map[string]string{".npmrc": "registry=https://mirror/\n@mine:registry = \"https://mine/\"\n//mine/:_authToken=${NPM_TOKEN}\nproxy=http://proxy\ncafile=/ca.pem\nignore-scripts=true\n; note\n"},
		map[string]string{"NPM_TOKEN": "tok"})
	got := string(s.npm)
	require.Contains(t, got, "registry=https://mirror/\n@mine:registry=https://mine/\n//mine/:_authToken=tok\n")
	require.NotContains(t, got, "proxy")
	require.NotContains(t, got, "ignore-scripts")
	require.Contains(t, s.bundles, "/ca.pem")

	s = machine(t, map[string]string{".npmrc": "registry=http://127.0.0.1:4873/\n//127.0.0.1:4873/:_authToken=tok\n"}, nil)
	require.Contains(t, string(s.npm), "registry=http://host-loopback.internal:4873/\n//host-loopback.internal:4873/:_authToken=tok\n")
	require.Equal(t, []string{"http://host-loopback.internal:4873/"}, s.inner)
}

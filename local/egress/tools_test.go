package egress

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// machine writes files below a root and gives its tools.
func machine(t *testing.T, env []string, files map[string]string) *tools {
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return newTools(env, root)
}

func TestRegistriesAreThoseThatTheToolsName(t *testing.T) {
	m := machine(t, []string{
		"HOME=/home/me", "PATH=/usr/bin:/opt/go/bin", "PIP_EXTRA_INDEX_URL=https://user:hunter2@extra.test/simple https://more.test:8443/",
		"GOPROXY=https://mods.test|direct", "PIP_FIND_LINKS=/opt/wheels", "npm_config_registry=http://127.0.0.1:4873/",
	}, map[string]string{
		"etc/pip.conf":                      "[global]\ncert = /x\nindex-url = https://index.test/simple\nextra-index-url =\n    https://second.test/simple\n    http://third.test/simple\ntimeout = 5\n",
		"home/me/.npmrc":                    "fund=false\nregistry=https://npm.test/\n@corp:registry = \"http://corp.test:4873/\"\n//npm.test/:_authToken=hunter2\n",
		"etc/apt/sources.list":              "# deb http://comment.test/ x main\ndeb [arch=amd64 signed-by=/k.gpg] http://debs.test/debian stable main\ndeb-src https://src.test/ x main\ndeb file:/mnt x main\n",
		"etc/apt/sources.list.d/a.list":     "deb http://list.test/ stable main\n",
		"etc/apt/sources.list.d/b.sources":  "Types: deb\n# URIs: http://comment.test\nURIs: http://one.test/debian\n  https://two.test/debian\nSuites: x\n\nEnabled: no\nTypes: deb\nURIs: http://off.test/\n",
		"etc/apt/sources.list.d/c.list.off": "deb http://disabled.test/ x main\n",
		"usr/bin/npm":                       "",
		"usr/node_modules/@npmcli/config/lib/definitions/definitions.js": "const registry = new Definition('registry', {\n    default: 'https://default-npm.test/',\n  })",
		"opt/go/bin/go": "",
		"opt/go/go.env": "GOPROXY=https://unused.test,direct\nGOSUMDB=sums.test\n",
		"usr/lib/python3/dist-packages/pip/_internal/models/index.py": "PyPI = PackageIndex(\"https://default-pip.test/\", file_storage_domain=\"files.test\")\nTest = PackageIndex(\n    \"https://testing.test/\", file_storage_domain=\"test-files.test\"\n)\n",
	})
	require.Equal(t, []string{
		"corp.test:4873", "debs.test:80", "default-npm.test:443", "default-pip.test:443", "extra.test:443", "files.test:443",
		"index.test:443", "list.test:80", "mods.test:443", "more.test:8443", "npm.test:443", "one.test:80", "second.test:443",
		"src.test:443", "sums.test:443", "third.test:80", "two.test:443",
	}, m.endpoints().list())
}

func TestToolsThatAreNotThereOpenNothing(t *testing.T) {
	require.Empty(t, machine(t, nil, nil).endpoints().list())
	require.Empty(t, NewHost(HostOptions{}).Registries())
}

func TestEndpointsAreMatchedByPort(t *testing.T) {
	e := endpoints{}
	for _, u := range []string{"https://A.test./x", "http://a.test:8080", "ftp://b.test", "://", "https://localhost:3141/", "http://[::1]:80/", "https://10.0.0.8/simple", "mirror+file:/x", "https://x:99999/"} {
		e.add(u)
	}
	require.Equal(t, []string{"10.0.0.8:443", "a.test:443", "a.test:8080"}, e.list())
	require.True(t, e.has("a.test", 0))
	require.False(t, e.has("a.test", 80))
	require.False(t, e.has("b.test", 0))
}

func TestToolsKeepTheirOwnProxies(t *testing.T) {
	m := machine(t, []string{"HOME=/home/me", "PIP_PROXY=pip-proxy.test:3128"}, map[string]string{
		"etc/pip.conf":                "[global]\nindex-url = https://index.test/simple\n",
		"home/me/.npmrc":              "registry=https://npm.test/\nhttps-proxy = http://u:p@npm-proxy.test:8080/\n",
		"etc/apt/sources.list":        "deb http://debs.test/debian stable main\n",
		"etc/apt/apt.conf.d/01proxy":  "# Acquire::http::Proxy \"http://comment.test:1\";\nAcquire::http::Proxy \"http://apt-proxy.test:3142\";\n",
		"etc/apt/apt.conf.d/02direct": "Acquire::http::Proxy \"DIRECT\";\n",
	})
	got := map[string]string{}
	for hostport, u := range m.proxies() {
		got[hostport] = u.Host
	}
	require.Equal(t, map[string]string{"index.test:443": "pip-proxy.test:3128", "npm.test:443": "npm-proxy.test:8080", "debs.test:80": "apt-proxy.test:3142"}, got)
	u := &upstream{tools: m.proxies}
	require.True(t, u.takes("debs.test", 80))
	require.True(t, u.takes("debs.test", 0))
	require.False(t, u.takes("debs.test", 443))
	require.False(t, u.takes("other.test", 0))
}

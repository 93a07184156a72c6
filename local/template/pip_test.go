//go:build linux

package template_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/local/template"
)

// writeWheel makes a package that pip installs without a network.
func writeWheel(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "tinything-1.0-py3-none-any.whl"))
	require.NoError(t, err)
	z := zip.NewWriter(f)
	for name, content := range map[string]string{
		"tinything.py":                     "word = 'tiny'\n",
		"tinything-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinything\nVersion: 1.0\n",
		"tinything-1.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"tinything-1.0.dist-info/RECORD":   "tinything.py,,\ntinything-1.0.dist-info/METADATA,,\ntinything-1.0.dist-info/WHEEL,,\ntinything-1.0.dist-info/RECORD,,\n",
	} {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
}

func needPython(t *testing.T) {
	t.Helper()
	if _, ok := isolation.Base("python-base"); !ok {
		t.Skip("this machine has no python3 for sandboxes")
	}
}

func TestPackagesComeFromWhereTheHostGetsThemAndItsCredentialsStayOut(t *testing.T) {
	needPython(t)
	b := newBench(t)
	wheels := t.TempDir()
	require.NoError(t, os.Chmod(wheels, 0o755))
	writeWheel(t, wheels)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, ".npmrc"), []byte("//mirror/:_authToken=hunter3\n"), 0o600))
	env := map[string]string{"HOME": home, "PIP_INDEX_URL": "https://me:hunter2@mirror.invalid/simple", "PIP_FIND_LINKS": wheels, "PIP_NO_INDEX": "1"}
	r := template.Recipe{Name: "packed", Base: "python-base", Steps: []template.Step{
		template.Pip([]string{"tinything"}),
		run("shown", `grep -c hunter2 "$PIP_CONFIG_FILE"; grep -c hunter3 "$npm_config_userconfig"; env | grep -c hunter || true`),
	}}
	_, l, err := b.build(r, template.Options{Getenv: func(name string) string { return env[name] }})
	require.NoError(t, err, l.text.String())
	require.Contains(t, l.text.String(), "1\n1\n0\n", "the build sees them")
	require.Equal(t, "tiny\n0\n", b.inside("packed", `python3 -c 'import tinything; print(tinything.word)'; env | grep -c -i -E 'hunter|PIP_CONFIG|npm_config' || true`))
	b.noneHas("hunter")
}

// mirror is an index of packages that only answers as a proxy: its name leads
// nowhere, as inside companies.
func mirror(t *testing.T) (proxy string, asked func() []string) {
	t.Helper()
	dir := t.TempDir()
	writeWheel(t, dir)
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Header.Get("Proxy-Authorization")+" "+r.URL.String())
		mu.Unlock()
		switch {
		case r.URL.Host != "mirror.invalid":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/simple/tinything/":
			_, _ = io.WriteString(w, `<a href="/files/tinything-1.0-py3-none-any.whl">tinything-1.0-py3-none-any.whl</a>`)
		default:
			http.ServeFile(w, r, filepath.Join(dir, filepath.Base(r.URL.Path)))
		}
	}))
	t.Cleanup(s.Close)
	return strings.Replace(s.URL, "://", "://me:hunter4@", 1), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen)
	}
}

func TestPackagesComeThroughTheHostsProxyOnLoopback(t *testing.T) {
	needPython(t)
	b := newBench(t)
	proxy, asked := mirror(t)
	env := map[string]string{"PIP_INDEX_URL": "http://mirror.invalid/simple", "PIP_TRUSTED_HOST": "mirror.invalid", "HTTP_PROXY": proxy, "HTTPS_PROXY": proxy}
	var environ []string
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	r := template.Recipe{Name: "proxied", Base: "python-base", Steps: []template.Step{template.Pip([]string{"tinything"})}}
	_, l, err := b.build(r, template.Options{Getenv: func(name string) string { return env[name] }, Environ: environ})
	require.NoError(t, err, l.text.String())
	require.Contains(t, asked()[0], "Basic ", "the host's side knows the proxy's password")
	require.NotContains(t, l.text.String(), "hunter4")
	require.Equal(t, "tiny\n", b.inside("proxied", `python3 -c 'import tinything; print(tinything.word)'`))
	b.noneHas("hunter4")
}

// noneHas fails when a file of the store has the text in its content or name.
func (b *bench) noneHas(text string) {
	b.Helper()
	files := 0
	require.NoError(b, filepath.WalkDir(template.Dir(b.state), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		require.NotContains(b, path, text)
		require.False(b, bytes.Contains(content, []byte(text)), "%s has it", path)
		return err
	}))
	require.Positive(b, files)
}

func TestPackagesComeFromAnIndexOnTheHostsLoopback(t *testing.T) {
	needPython(t)
	b := newBench(t)
	dir := t.TempDir()
	writeWheel(t, dir)
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "me" || password != "hunter5":
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/simple/tinything/":
			// As devpi does: by the name that it was called.
			_, _ = fmt.Fprintf(w, `<a href="http://%s/files/tinything-1.0-py3-none-any.whl">tinything-1.0-py3-none-any.whl</a>`, r.Host)
		default:
			http.ServeFile(w, r, filepath.Join(dir, filepath.Base(r.URL.Path)))
		}
	}))
	t.Cleanup(index.Close)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(other.URL, "http://"), ":")
	environ := []string{"PIP_INDEX_URL=" + strings.Replace(index.URL, "://", "://me:hunter5@", 1) + "/simple"}
	r := template.Recipe{Name: "nearby", Base: "python-base", Steps: []template.Step{
		template.Pip([]string{"tinything"}),
		run("another port of the host", "python3 -c 'import urllib.request as u; u.urlopen(\"http://host-loopback.internal:"+port+"\", timeout=5)' 2>&1 | tail -1"),
	}}
	_, l, err := b.build(r, template.Options{Environ: environ, Getenv: func(name string) string {
		for _, v := range environ {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}})
	require.NoError(t, err, l.text.String())
	require.NotContains(t, l.text.String(), "404", "only what the settings name is reached")
	require.Equal(t, "tiny\n", b.inside("nearby", `python3 -c 'import tinything; print(tinything.word)'`))
	b.noneHas("hunter5")
}

package pages

import (
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// site makes a directory of pages beside a secret.
func site(t *testing.T) (*Directory, string) {
	t.Helper()
	outside := t.TempDir()
	dir := filepath.Join(outside, "site")
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("s3cr3t"), 0o600))
	for name, text := range map[string]string{
		"index.html": "<p>front", "page.js": "export {}", "core.wasm": "\x00asm", "a b/ü.txt": "named", "sub/index.html": "<p>sub",
		"sub/only.unknown": "?", ".env": "s3cr3t", ".git/config": "s3cr3t", "bare/data.json": "{}",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink("../secret.txt", filepath.Join(dir, "link.txt")))
	require.NoError(t, os.Symlink("page.js", filepath.Join(dir, "inner.js")))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "up")))
	d, err := Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, dir
}

func get(d *Directory, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:1/", nil)
	path, query, _ := strings.Cut(target, "?")
	r.URL.Path, r.URL.RawQuery = path, query
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

func TestFilesAreServedWithTheirTypes(t *testing.T) {
	d, _ := site(t)
	for target, want := range map[string]struct{ kind, body string }{
		"/pages/":                 {"text/html; charset=utf-8", "<p>front"},
		"/pages/index.html":       {"text/html; charset=utf-8", "<p>front"},
		"/pages/page.js":          {"text/javascript; charset=utf-8", "export {}"},
		"/pages/page.js?v=1":      {"text/javascript; charset=utf-8", "export {}"},
		"/pages/inner.js":         {"text/javascript; charset=utf-8", "export {}"},
		"/pages/core.wasm":        {"application/wasm", "\x00asm"},
		"/pages/a b/ü.txt":        {"text/plain; charset=utf-8", "named"},
		"/pages/sub/":             {"text/html; charset=utf-8", "<p>sub"},
		"/pages/sub/only.unknown": {"application/octet-stream", "?"},
		"/pages/bare/data.json":   {"application/json", "{}"},
	} {
		w := get(d, http.MethodGet, target)
		require.Equal(t, http.StatusOK, w.Code, target)
		require.Equal(t, want.kind, w.Header().Get("Content-Type"), target)
		require.Equal(t, want.body, w.Body.String(), target)
		require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		require.Equal(t, "same-origin", w.Header().Get("Cross-Origin-Resource-Policy"))
		w = get(d, http.MethodHead, target)
		require.Equal(t, http.StatusOK, w.Code, target)
		require.Empty(t, w.Body.String())
	}
}

func TestNothingElseIsServed(t *testing.T) {
	d, _ := site(t)
	for _, target := range []string{
		"/pages/none", "/pages/.env", "/pages/.git/config", "/pages/.git/", "/pages/bare/", "/pages/page.js/",
		"/pages/../secret.txt", "/pages/sub/../../secret.txt", "/pages//etc/passwd", "/pages/link.txt", "/pages/up/secret.txt",
		"/pages/up/", "/pages/..", "/pages/.", "/pages/./page.js", "/pages/sub//index.html", "/pages/..\\secret.txt", "/pages/a\x00b",
	} {
		w := get(d, http.MethodGet, target)
		require.Equal(t, http.StatusNotFound, w.Code, target)
		require.NotContains(t, w.Body.String(), "s3cr3t")
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		w := get(d, method, "/pages/page.js")
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
	}
}

func TestDirectoriesAreLedToTheirSlash(t *testing.T) {
	d, _ := site(t)
	for target, to := range map[string]string{"/pages": "pages/", "/pages/sub": "sub/"} {
		w := get(d, http.MethodGet, target)
		require.Equal(t, http.StatusMovedPermanently, w.Code)
		require.Equal(t, to, w.Header().Get("Location"))
	}
}

func TestWhatABrowserHasIsNotSentAgain(t *testing.T) {
	d, dir := site(t)
	first := get(d, http.MethodGet, "/pages/core.wasm")
	tag := first.Header().Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, "no-cache", first.Header().Get("Cache-Control"))
	require.Equal(t, http.StatusNotModified, get(d, http.MethodGet, "/pages/core.wasm", "If-None-Match", tag).Code)
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "core.wasm"), later, later))
	require.Equal(t, http.StatusOK, get(d, http.MethodGet, "/pages/core.wasm", "If-None-Match", tag).Code)
}

func TestPackedFormsAreSentToThoseWhoTakeThem(t *testing.T) {
	d, dir := site(t)
	wasm := filepath.Join(dir, "core.wasm")
	require.NoError(t, os.WriteFile(wasm+".br", []byte("brotli"), 0o600))
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("\x00asm"))
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(wasm+".gz", []byte(packed.String()), 0o600))
	tags := map[string]bool{}
	for accept, want := range map[string]string{
		"gzip, deflate, br, zstd": "br", "gzip": "gzip", "gzip;q=0.5, BR;q=0": "gzip", "": "", "*": "", "br;q=0": "", "x-br": "",
	} {
		w := get(d, http.MethodGet, "/pages/core.wasm", "Accept-Encoding", accept, "Range", "bytes=0-0")
		require.Equal(t, want, w.Header().Get("Content-Encoding"), accept)
		require.Equal(t, "application/wasm", w.Header().Get("Content-Type"))
		require.Equal(t, "Accept-Encoding", w.Header().Get("Vary"))
		if want != "" {
			require.Equal(t, http.StatusOK, w.Code)
			require.Equal(t, map[string]string{"br": "brotli", "gzip": packed.String()}[want], w.Body.String())
		}
		tags[w.Header().Get("ETag")] = true
	}
	require.Len(t, tags, 3, "each form has a tag of its own")

	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(wasm, later, later))
	w := get(d, http.MethodGet, "/pages/core.wasm", "Accept-Encoding", "br, gzip")
	require.Empty(t, w.Header().Get("Content-Encoding"), "a packed form of a former build is passed over")
}

func TestADirectoryThatIsNone(t *testing.T) {
	_, dir := site(t)
	for _, name := range []string{"none", "page.js"} {
		_, err := Open(filepath.Join(dir, name))
		require.Error(t, err)
	}
}

//go:build linux

package local

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// journal keeps what a server logs.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// withPages starts a server with a page, and tells its origin.
func withPages(t *testing.T, change ...func(*Options)) (c *client, origin string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "index.html"), []byte("<p>hello"), 0o600))
	c, _, _ = newFake(t, append(change, func(o *Options) { o.Pages = dir })...)
	return c, c.base
}

func (c *client) newCode() string {
	c.t.Helper()
	a := c.do("POST", "/page-codes/new", "{}")
	require.Equal(c.t, http.StatusCreated, a.status, a.body)
	require.Equal(c.t, "no-store", a.header.Get("Cache-Control"))
	var made struct {
		Code      string
		ExpiresMS int64 `json:"expires_ms"`
	}
	a.into(c.t, &made)
	require.EqualValues(c.t, 60_000, made.ExpiresMS)
	return made.Code
}

func TestAPageOfTheServerGetsItsKeyByACode(t *testing.T) {
	log := &journal{}
	c, origin := withPages(t, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	page := c.do("GET", "/pages/", "", "X-API-Key", "-")
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, "<p>hello", page.body)

	code := c.newCode()
	exchange := func(code, from string) answer {
		return c.do("POST", "/page-codes", `{"code":"`+code+`"}`, "X-API-Key", "-", "Origin", from)
	}
	c.requireFault(exchange("", origin), 401, "not one of this server's")
	c.requireFault(exchange("wrong", origin), 401, "sandboxc page")
	for _, foreign := range []string{"http://localhost:5173", "http://127.0.0.1:1", "https" + strings.TrimPrefix(origin, "http"), "-"} {
		c.requireFault(exchange(code, foreign), 403, "itself serves")
	}
	for _, never := range []string{"https://evil.example", "http://3000-iabc.localhost" + origin[strings.LastIndex(origin, ":"):], "null"} {
		c.requireFault(exchange(code, never), 403, "may not use the server")
	}
	a := exchange(code, origin)
	require.Equal(t, http.StatusCreated, a.status, "a foreign page spends no code")
	require.Equal(t, "no-store", a.header.Get("Cache-Control"))
	var got struct{ Key string }
	a.into(t, &got)
	require.Regexp(t, `^page_[0-9a-f]{64}$`, got.Key)
	c.requireFault(exchange(code, origin), 401, "used already")
	require.NotContains(t, log.String(), code)
	require.NotContains(t, log.String(), got.Key)

	for name, k := range map[string]struct {
		headers []string
		status  int
	}{
		"a request that names the page": {[]string{"Origin", origin}, 200},
		"a GET to its own server":       {[]string{"Sec-Fetch-Site", "same-origin"}, 200},
		"a page of another site":        {[]string{"Sec-Fetch-Site", "cross-site"}, 401},
		"a page of another port":        {[]string{"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-origin"}, 401},
		"no page":                       {nil, 401},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.do("GET", "/v2/sandboxes", "", append(k.headers, "X-API-Key", got.Key)...)
			require.Equal(t, k.status, a.status, a.body)
		})
	}
}

func TestWhoMakesCodes(t *testing.T) {
	c, origin := withPages(t)
	c.requireFault(c.do("POST", "/page-codes/new", "{}", "X-API-Key", "-"), 401, "API key")
	a := c.do("POST", "/page-keys", `{"origin":"`+origin+`"}`)
	var page struct{ Key string }
	a.into(t, &page)
	c.requireFault(c.do("POST", "/page-codes/new", "{}", "X-API-Key", page.Key, "Origin", origin), 403, "own key")
	a = c.do("GET", "/page-codes", "", "X-API-Key", "-")
	c.requireFault(a, 405, "POST")
	c.requireFault(c.do("POST", "/page-codes", "no json", "X-API-Key", "-", "Origin", origin), 400, "JSON")
}

func TestAServerWithoutPages(t *testing.T) {
	c, _, _ := newFake(t)
	c.requireFault(c.do("POST", "/page-codes/new", "{}"), 409, "--pages DIR")
	c.requireFault(c.do("GET", "/pages/", ""), 404, "--pages DIR")
	c.requireFault(c.do("GET", "/pagesx", "", "X-API-Key", "-"), 401, "API key")
	opt := Options{StateDir: t.TempDir(), APIKey: testKey, Pages: filepath.Join(t.TempDir(), "none")}
	require.NoError(t, opt.check())
	_, err := newServer(opt, &fakeEngine{}, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestPagesAreNotForForeignSites(t *testing.T) {
	c, origin := withPages(t)
	port := origin[strings.LastIndex(origin, ":"):]
	for _, from := range []string{"https://evil.example", "http://3000-iabc.localhost" + port} {
		c.requireFault(c.do("GET", "/pages/", "", "X-API-Key", "-", "Origin", from), 403, "may not use")
	}
	c.requireFault(c.do("GET", "/pages/", "", "X-API-Key", "-", "Host", "evil.example"), 403, "names of this machine")
	require.NotContains(t, c.do("GET", "/pages/", "", "X-API-Key", "-", "Host", "3000-iabc.localhost"+port).body, "<p>hello",
		"a sandbox's name leads to the sandbox")
}

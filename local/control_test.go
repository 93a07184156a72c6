//go:build linux

package local

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// fault is the body of an error.
type fault struct {
	Code      int    `json:"code"`
	Message   string `json:"message"`
	ErrorCode string `json:"error_code"`
}

func (c *client) requireFault(a answer, status int, message string) fault {
	c.t.Helper()
	require.Equal(c.t, status, a.status, a.body)
	var f fault
	a.into(c.t, &f)
	require.Equal(c.t, status, f.Code, "the status stands in the body too")
	require.Contains(c.t, f.Message, message)
	return f
}

func TestHealthProvesTheKey(t *testing.T) {
	c, _, _ := newFake(t)
	a := c.do("GET", "/health", "", "X-API-Key", "-", "X-Challenge", "any bytes")
	require.Equal(t, http.StatusNoContent, a.status)
	mac := hmac.New(sha256.New, []byte(testKey))
	mac.Write([]byte("any bytes"))
	require.Equal(t, hex.EncodeToString(mac.Sum(nil)), a.header.Get("X-Proof"))
	require.Empty(t, c.do("GET", "/health", "", "X-API-Key", "-").header.Get("X-Proof"))
}

func TestWhoMayTalkToTheControlPlane(t *testing.T) {
	c, _, s := newFake(t, func(o *Options) { o.AllowOrigins = []string{"https://app.example"} })
	page, err := s.PageKey("https://page.example")
	require.NoError(t, err)
	for name, k := range map[string]struct {
		headers []string
		status  int
		cors    string
	}{
		"the key":                   {nil, 200, ""},
		"no key":                    {[]string{"X-API-Key", "-"}, 401, ""},
		"a wrong key":               {[]string{"X-API-Key", testKey + "0"}, 401, ""},
		"bearer":                    {[]string{"X-API-Key", "-", "Authorization", "Bearer " + testKey}, 200, ""},
		"a foreign host":            {[]string{"Host", "evil.example"}, 403, ""},
		"a rebound host":            {[]string{"Host", "127.0.0.1.evil.example:80"}, 403, ""},
		"localhost":                 {[]string{"Host", "localhost:1"}, 200, ""},
		"a loopback page":           {[]string{"Origin", "http://localhost:5173"}, 200, "http://localhost:5173"},
		"an allowed page":           {[]string{"Origin", "https://app.example"}, 200, "https://app.example"},
		"a foreign page":            {[]string{"Origin", "https://evil.example"}, 403, ""},
		"a page of a sandbox":       {[]string{"Origin", "http://3000-iabc.localhost:1"}, 403, ""},
		"a page of no origin":       {[]string{"Origin", "null"}, 403, ""},
		"a page key at home":        {[]string{"X-API-Key", page, "Origin", "https://page.example"}, 200, "https://page.example"},
		"a page key elsewhere":      {[]string{"X-API-Key", page, "Origin", "https://app.example"}, 401, "https://app.example"},
		"a page key outside a page": {[]string{"X-API-Key", page}, 401, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.do("GET", "/sandboxes", "", k.headers...)
			require.Equal(t, k.status, a.status, a.body)
			require.Equal(t, k.cors, a.header.Get("Access-Control-Allow-Origin"))
			require.Empty(t, a.header.Get("Access-Control-Allow-Credentials"))
		})
	}
}

func TestARefusedKeyIsToldWhyAndNotShown(t *testing.T) {
	c, _, s := newFake(t, func(o *Options) { o.AllowOrigins = []string{"https://app.example"} })
	page, err := s.PageKey("https://page.example")
	require.NoError(t, err)
	for name, k := range map[string]struct {
		headers []string
		says    string
	}{
		"a page key elsewhere":      {[]string{"X-API-Key", page, "Origin", "https://app.example"}, "pages of another origin than https://app.example"},
		"a page key outside a page": {[]string{"Authorization", "Bearer " + page, "X-API-Key", "-"}, "of its own origin alone"},
		"another wrong key":         {[]string{"X-API-Key", testKey + "0", "Origin", "https://app.example"}, "missing or wrong"},
		"no key":                    {[]string{"X-API-Key", "-"}, "missing or wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.do("GET", "/sandboxes", "", k.headers...)
			c.requireFault(a, http.StatusUnauthorized, k.says)
			require.NotContains(t, a.body, page)
			require.NotContains(t, a.body, testKey)
		})
	}
}

func TestABrowserMayAskForAnIcon(t *testing.T) {
	c, _, _ := newFake(t)
	require.Equal(t, http.StatusNoContent, c.do("GET", "/favicon.ico", "", "X-API-Key", "-").status)
}

func TestPreflights(t *testing.T) {
	c, _, _ := newFake(t)
	ask := []string{"X-API-Key", "-", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-api-key", "Origin"}
	a := c.do("OPTIONS", "/v2/sandboxes", "", append(ask, "http://localhost:5173")...)
	require.Equal(t, http.StatusNoContent, a.status)
	require.Equal(t, "http://localhost:5173", a.header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, a.header.Get("Access-Control-Allow-Headers"), "X-API-Key")
	require.Contains(t, a.header.Get("Access-Control-Allow-Methods"), "DELETE")
	a = c.do("OPTIONS", "/v2/sandboxes", "", append(ask, "https://evil.example")...)
	require.Equal(t, http.StatusForbidden, a.status)
	require.Empty(t, a.header.Get("Access-Control-Allow-Origin"))
}

func TestPageKeysAreWeaker(t *testing.T) {
	c, _, _ := newFake(t)
	a := c.do("POST", "/page-keys", `{"origin":"https://page.example"}`)
	require.Equal(t, http.StatusCreated, a.status)
	var k struct{ Key string }
	a.into(t, &k)
	as := []string{"X-API-Key", k.Key, "Origin", "https://page.example"}
	m := c.create(`{"templateID":"base","network":{"allowOut":["9.9.9.9"]}}`, as...)
	for _, network := range []string{`{"allowOut":["127.0.0.1"]}`, `{"allowOut":["169.254.169.254/32"]}`, `{"egressProxy":{"address":"127.0.0.1:1080"}}`} {
		c.requireFault(c.do("POST", "/v2/sandboxes", `{"templateID":"base","network":`+network+`}`, as...), 403, "the host's own network")
		c.requireFault(c.do("PUT", "/sandboxes/"+m.SandboxID+"/network", network, as...), 403, "the host's own network")
		require.Equal(t, http.StatusNoContent, c.do("PUT", "/sandboxes/"+m.SandboxID+"/network", network).status, "the owner may")
		require.Equal(t, http.StatusNoContent, c.do("PUT", "/sandboxes/"+m.SandboxID+"/network", "{}").status)
	}
	c.requireFault(c.do("POST", "/v2/sandboxes", `{"templateID":"base","hostMounts":[{"source":"/tmp","target":"/mnt/x"}]}`, as...), 403, "hostMounts")
	c.requireFault(c.do("POST", "/page-keys", `{"origin":"https://other.example"}`, as...), 403, "own key")
	for _, reach := range []string{`"hostMounts":[{"source":"/tmp","target":"/mnt/x"}]`, `"network":{"allowOut":["127.0.0.1"]}`} {
		owners := c.create(`{"templateID":"base",` + reach + `}`)
		c.requireFault(c.do("GET", "/sandboxes/"+owners.SandboxID, "", as...), 404, "not found")
		c.requireFault(c.do("POST", "/v2/sandboxes/"+owners.SandboxID+"/connect", "{}", as...), 404, "not found")
		c.requireFault(c.do("DELETE", "/sandboxes/"+owners.SandboxID, "", as...), 404, "not found")
		require.NotContains(t, c.do("GET", "/v2/sandboxes", "", as...).body, owners.SandboxID)
		require.NotContains(t, c.do("GET", "/sandboxes/metrics?sandbox_ids="+owners.SandboxID, "", as...).body, owners.SandboxID)
		require.Contains(t, c.do("GET", "/v2/sandboxes", "").body, owners.SandboxID)
	}
	require.Contains(t, c.do("GET", "/v2/sandboxes", "", as...).body, m.SandboxID)
	c.requireFault(c.do("POST", "/page-keys", `{"origin":"http://3000-iabc.localhost"}`), 400, "no page may have")
}

func TestCreateAnswersLikeE2B(t *testing.T) {
	c, engine, _ := newFake(t)
	dir := t.TempDir()
	m := c.create(fmt.Sprintf(`{"templateID":"PY","envVars":{"A":"b"},"cpuCount":0.5,"memoryMB":64,"diskSizeMB":128,
		"hostMounts":[{"source":%q,"target":"/mnt/x","write":true}],"network":{"allowPublicTraffic":false}}`, dir))
	require.Regexp(t, `^i[a-z0-9]{20}$`, m.SandboxID)
	require.Equal(t, "python-base", m.TemplateID)
	require.Len(t, m.EnvdAccessToken, 64)
	require.Len(t, m.TrafficAccessToken, 64)
	require.NotEqual(t, m.EnvdAccessToken, m.TrafficAccessToken)
	base, err := url.Parse(c.base)
	require.NoError(t, err)
	require.Equal(t, "localhost:"+base.Port(), m.Domain)
	require.Equal(t, "namespaces", m.Isolation)

	spec := engine.last(t)
	require.Equal(t, m.SandboxID, spec.ID)
	require.Equal(t, m.EnvdAccessToken, spec.Token)
	require.Equal(t, map[string]string{"A": "b"}, spec.Envs)
	require.Equal(t, 0.5, spec.CPUs)
	require.Equal(t, 64, spec.MemoryMB)
	require.Equal(t, 128, spec.DiskMB)
	require.Equal(t, []isolation.Mount{{Source: dir, Target: "/mnt/x", Write: true}}, spec.Mounts)
	require.True(t, spec.Internet)
	require.FileExists(t, spec.Egress)

	var detail struct {
		State, EnvdAccessToken, Isolation string
		CPUCount, MemoryMB, DiskSizeMB    int
		Lifecycle                         struct {
			OnTimeout  string
			AutoResume bool
		}
		Limits []struct{ Name, Why string }
	}
	c.do("GET", "/sandboxes/"+m.SandboxID, "").into(t, &detail)
	require.Equal(t, "running", detail.State)
	require.Equal(t, 1, detail.CPUCount, "whole cores on the wire")
	require.Equal(t, 64, detail.MemoryMB)
	require.Equal(t, 128, detail.DiskSizeMB)
	require.Equal(t, m.EnvdAccessToken, detail.EnvdAccessToken)
	require.Equal(t, "kill", detail.Lifecycle.OnTimeout)
	require.Equal(t, "disk", detail.Limits[0].Name)
}

func TestLifetimesOfBothCreates(t *testing.T) {
	c, _, _ := newFake(t)
	for name, k := range map[string]struct {
		path, body string
		want       time.Duration
	}{
		"v2 default": {"/v2/sandboxes", `{"templateID":"base"}`, 300 * time.Second},
		"v1 default": {"/sandboxes", `{"templateID":"base"}`, 15 * time.Second},
		"v1 asked":   {"/sandboxes", `{"templateID":"base","timeout":77}`, 77 * time.Second},
		"v2 none":    {"/v2/sandboxes", `{"templateID":"base","timeout":0}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.do("POST", k.path, k.body)
			require.Equal(t, 201, a.status, a.body)
			var m made
			a.into(t, &m)
			end := c.endAt(m.SandboxID)
			if k.want == 0 {
				require.Equal(t, 9999, end.Year())
				return
			}
			require.WithinDuration(t, time.Now().Add(k.want), end, 5*time.Second)
		})
	}
}

func (c *client) endAt(id string) time.Time {
	c.t.Helper()
	var detail struct{ EndAt time.Time }
	c.do("GET", "/sandboxes/"+id, "").into(c.t, &detail)
	return detail.EndAt
}

func TestOpenSandboxOfTheOldRoute(t *testing.T) {
	c, engine, _ := newFake(t)
	a := c.do("POST", "/sandboxes", `{"templateID":"base","secure":false}`)
	require.Equal(t, 201, a.status)
	require.NotContains(t, a.body, "envdAccessToken")
	require.Empty(t, engine.last(t).Token)
	require.NotEmpty(t, c.create(`{"templateID":"base","secure":false}`).EnvdAccessToken, "the new route always secures")
}

func TestBadCreatesMakeNothing(t *testing.T) {
	c, engine, s := newFake(t)
	for name, k := range map[string]struct {
		body    string
		status  int
		message string
	}{
		"unknown template":   {`{"templateID":"x"}`, 404, "template 'x' not found"},
		"bad env":            {`{"templateID":"base","envVars":{"A=":"b"}}`, 400, "equals sign"},
		"negative timeout":   {`{"templateID":"base","timeout":-1}`, 400, "negative"},
		"huge timeout":       {`{"templateID":"base","timeout":99999999999}`, 400, "at most"},
		"missing mount":      {`{"templateID":"base","hostMounts":[{"source":"/no/such","target":"/x"}]}`, 400, "does not exist"},
		"domain without 0/0": {`{"templateID":"base","network":{"allowOut":["example.com"]}}`, 400, ""},
		"domain denied":      {`{"templateID":"base","network":{"denyOut":["example.com"]}}`, 400, ""},
		"volume":             {`{"templateID":"base","volumeMounts":[{"name":"a","path":"/a"}]}`, 501, "volumes"},
		"no JSON":            {`templateID=base`, 400, "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			c.requireFault(c.do("POST", "/v2/sandboxes", k.body), k.status, k.message)
		})
	}
	require.Empty(t, engine.specs)
	require.Zero(t, s.fleet.Len())
	left, err := os.ReadDir(s.sockets.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAFailedStartLeavesNothing(t *testing.T) {
	c, engine, s := newFake(t)
	engine.started = func(context.Context, isolation.Spec) error { return errRefused }
	f := c.requireFault(c.do("POST", "/v2/sandboxes", `{"templateID":"base"}`), 500, "set x to y")
	require.Equal(t, "sandbox_create_failed", f.ErrorCode)
	left, err := os.ReadDir(s.sockets.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAClientThatGoesAwayLeavesNoSandbox(t *testing.T) {
	c, engine, s := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	engine.started = func(inner context.Context, _ isolation.Spec) error {
		cancel()
		<-inner.Done()
		return nil
	}
	_, err := c.try(ctx, "POST", "/v2/sandboxes", `{"templateID":"base"}`)
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool { return len(engine.snapshot()) == 1 && s.fleet.Len() == 0 }, 5*time.Second, 5*time.Millisecond)
}

func (e *fakeEngine) snapshot() []isolation.Spec {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]isolation.Spec(nil), e.specs...)
}

func TestInternetIsWhatWasAskedElseTheDefault(t *testing.T) {
	for name, k := range map[string]struct {
		byDefault bool
		body      string
		want      bool
	}{
		"default on":           {true, `{"templateID":"base"}`, true},
		"default off":          {false, `{"templateID":"base"}`, false},
		"asked on":             {false, `{"templateID":"base","allow_internet_access":true}`, true},
		"asked off":            {true, `{"templateID":"base","allow_internet_access":false}`, false},
		"off but for a few":    {true, `{"templateID":"base","allow_internet_access":false,"network":{"allowOut":["1.1.1.1"]}}`, true},
		"all denied is routed": {true, `{"templateID":"base","network":{"denyOut":["0.0.0.0/0"]}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, engine, _ := newFake(t, func(o *Options) { o.Internet = k.byDefault })
			c.create(k.body)
			require.Equal(t, k.want, engine.last(t).Internet)
			require.Equal(t, k.want, engine.last(t).Egress != "")
		})
	}
}

func TestNetworkUpdates(t *testing.T) {
	c, _, s := newFake(t)
	m := c.create(`{"templateID":"base","network":{"maskRequestHost":"app","egressProxy":{"address":"127.0.0.1:1080","username":"u","password":"hidden"}}}`)
	at := "/sandboxes/" + m.SandboxID
	require.NotContains(t, c.do("GET", at, "").body, "hidden")
	require.Equal(t, 204, c.do("PUT", at+"/network", `{"allowOut":["example.com"],"denyOut":["0.0.0.0/0"],"allow_internet_access":true}`).status)
	detail := c.do("GET", at, "").body
	require.Contains(t, detail, `"network":{"allowOut":["example.com"],"denyOut":["0.0.0.0/0"],"maskRequestHost":"app"}`)
	require.Contains(t, detail, `"allowInternetAccess":true`)
	require.Equal(t, []string{"example.com"}, s.members.get(m.SandboxID).net.policy.Rules().AllowOut)
	c.requireFault(c.do("PUT", at+"/network", `{"denyOut":["example.com"]}`), 400, "")
	require.Equal(t, []string{"example.com"}, s.members.get(m.SandboxID).net.policy.Rules().AllowOut)

	off := c.create(`{"templateID":"base","allow_internet_access":false}`)
	at = "/sandboxes/" + off.SandboxID
	c.requireFault(c.do("PUT", at+"/network", `{"allow_internet_access":true}`), 409, "internet off")
	require.Equal(t, 204, c.do("PUT", at+"/network", `{"denyOut":["1.1.1.1"]}`).status)
	require.Equal(t, 204, c.do("POST", at+"/pause", "").status)
	c.requireFault(c.do("PUT", at+"/network", `{}`), 409, "paused")
}

func TestLifecycleRoutes(t *testing.T) {
	c, _, _ := newFake(t)
	m := c.create(`{"templateID":"base","timeout":600}`)
	at := "/sandboxes/" + m.SandboxID
	in := func(d time.Duration) {
		t.Helper()
		require.WithinDuration(t, time.Now().Add(d), c.endAt(m.SandboxID), 5*time.Second)
	}
	steps := []struct {
		method, path, body string
		status             int
		check              func()
	}{
		{"POST", at + "/timeout", `{"timeout":100}`, 204, func() { in(100 * time.Second) }},
		{"POST", at + "/timeout", `{"timeout":-1}`, 400, nil},
		{"POST", at + "/timeout", `{}`, 400, nil},
		{"POST", at + "/refreshes", `{"duration":50}`, 204, func() { in(100 * time.Second) }},
		{"POST", at + "/refreshes", `{"duration":3601}`, 400, nil},
		{"POST", at + "/refreshes", `{"duration":200}`, 204, func() { in(200 * time.Second) }},
		{"POST", at + "/refreshes", ``, 204, func() { in(200 * time.Second) }},
		{"POST", "/v2" + at + "/connect", ``, 200, func() { in(300 * time.Second) }},
		{"POST", "/v2" + at + "/connect", `{"timeout":60,"memory":false}`, 200, func() { in(300 * time.Second) }},
		{"POST", at + "/connect", `{"timeout":900}`, 200, func() { in(900 * time.Second) }},
		{"POST", at + "/connect", `{}`, 400, nil},
		{"POST", at + "/resume", `{}`, 409, nil},
		{"POST", at + "/pause", `{"memory":false}`, 501, nil},
		{"POST", at + "/pause", `{}`, 204, nil},
		{"POST", at + "/pause", `{}`, 409, nil},
		{"POST", at + "/timeout", `{"timeout":100}`, 409, nil},
		{"POST", "/v2" + at + "/connect", `{"memory":false}`, 501, nil},
		{"POST", at + "/resume", `{}`, 201, func() { in(15 * time.Second) }},
		{"POST", at + "/pause", ``, 204, nil},
		{"POST", "/v2" + at + "/connect", ``, 201, func() { in(300 * time.Second) }},
		{"POST", "/v2" + at + "/timeout", `{"timeout":0}`, 204, func() { require.Equal(t, 9999, c.endAt(m.SandboxID).Year()) }},
		{"POST", at + "/timeout", `{"timeout":0}`, 204, nil},
		{"GET", at, "", 404, nil},
		{"DELETE", at, "", 404, nil},
	}
	for i, s := range steps {
		a := c.do(s.method, s.path, s.body)
		require.Equal(t, s.status, a.status, "step %d %s %s: %s", i, s.path, s.body, a.body)
		if s.check != nil {
			s.check()
		}
	}
	c.requireFault(c.do("GET", at, ""), 404, "it was killed")
	c.requireFault(c.do("GET", "/sandboxes/inone", ""), 404, `"inone" was not found`)
	c.requireFault(c.do("GET", "/sandboxes/..%2F..", ""), 404, "not found")
}

func TestKillsAtOnceAreOne(t *testing.T) {
	c, _, s := newFake(t)
	m := c.create(`{"templateID":"base"}`)
	var done sync.WaitGroup
	statuses := make(chan int, 8)
	for range 8 {
		done.Go(func() { statuses <- c.do("DELETE", "/sandboxes/"+m.SandboxID, "").status })
	}
	done.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	require.Equal(t, map[int]int{204: 1, 404: 7}, count)
	require.Zero(t, s.fleet.Len())
	require.Empty(t, s.members.all())
	left, err := os.ReadDir(s.sockets.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// row is what tests look at in a list.
type row struct {
	SandboxID, State string
	Metadata         map[string]string
}

func (c *client) list(query string) (ids []string, header http.Header) {
	c.t.Helper()
	a := c.do("GET", "/v2/sandboxes?"+query, "")
	require.Equal(c.t, 200, a.status, a.body)
	var rows []row
	a.into(c.t, &rows)
	for _, r := range rows {
		ids = append(ids, r.SandboxID)
	}
	return ids, a.header
}

func TestLists(t *testing.T) {
	c, _, _ := newFake(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, c.create(fmt.Sprintf(`{"templateID":"base","metadata":{"n":"%d","a b":"c&d"}}`, i)).SandboxID)
	}
	py := c.create(`{"templateID":"python-base"}`).SandboxID
	require.Equal(t, 204, c.do("POST", "/sandboxes/"+ids[1]+"/pause", "").status)

	got, header := c.list("")
	require.Equal(t, []string{py, ids[4], ids[3], ids[2], ids[1], ids[0]}, got, "newest first")
	require.Equal(t, "5", header.Get("X-Total-Running"))
	require.Empty(t, header.Get("X-Next-Token"))

	got, _ = c.list("metadata=a%252520b%3Dc%252526d%26n%3D3")
	require.Equal(t, []string{ids[3]}, got)
	got, _ = c.list("state=paused")
	require.Equal(t, []string{ids[1]}, got)
	got, _ = c.list("state=running,paused&order=asc&limit=1")
	require.Equal(t, []string{ids[0]}, got)
	got, _ = c.list("template=py")
	require.Equal(t, []string{py}, got)
	got, _ = c.list("template=unknown")
	require.Empty(t, got)
	got, _ = c.list("startedAfter=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)))
	require.Empty(t, got)

	for _, order := range []string{"asc", "desc"} {
		var all []string
		query := "limit=2&order=" + order
		for token := ""; ; {
			page, header := c.list(query + token)
			all = append(all, page...)
			if header.Get("X-Next-Token") == "" {
				break
			}
			token = "&nextToken=" + url.QueryEscape(header.Get("X-Next-Token"))
		}
		require.Len(t, all, 6, order)
	}
	_, header = c.list("limit=2&order=asc")
	c.requireFault(c.do("GET", "/v2/sandboxes?nextToken="+url.QueryEscape(header.Get("X-Next-Token")), ""), 400, "Invalid next token")

	a := c.do("GET", "/sandboxes?metadata=a%252520b%3Dc%252526d", "")
	var rows []row
	a.into(t, &rows)
	require.Len(t, rows, 4, "the old list knows running ones only")
	require.Equal(t, "[]", c.do("GET", "/v2/sandboxes?metadata=x%3Dy", "").body, "a list is never null")
}

func TestIdempotentCreates(t *testing.T) {
	c, engine, s := newFake(t)
	slow := make(chan struct{})
	engine.started = func(context.Context, isolation.Spec) error { <-slow; return nil }
	var done sync.WaitGroup
	ids := make(chan string, 4)
	for range 4 {
		done.Go(func() { ids <- c.create(`{"templateID":"base"}`, "Idempotency-Key", "key-1").SandboxID })
	}
	time.Sleep(20 * time.Millisecond)
	close(slow)
	done.Wait()
	first := <-ids
	for range 3 {
		require.Equal(t, first, <-ids)
	}
	require.Equal(t, 1, s.fleet.Len())
	require.Equal(t, first, c.create(`{"templateID":"base"}`, "Idempotency-Key", "key-1").SandboxID)
	f := c.requireFault(c.do("POST", "/v2/sandboxes", `{"templateID":"base","timeout":9}`, "Idempotency-Key", "key-1"), 422, "another request")
	require.Equal(t, "idempotency_request_mismatch", f.ErrorCode)
	require.NotEqual(t, first, c.create(`{"templateID":"base"}`, "Idempotency-Key", "key-2").SandboxID)
	c.requireFault(c.do("POST", "/v2/sandboxes", `{"templateID":"base"}`, "Idempotency-Key", "Key 1"), 400, "Idempotency-Key")
}

func TestAFailedIdempotentCreateCanBeTriedAgain(t *testing.T) {
	c, engine, _ := newFake(t)
	refused := true
	engine.started = func(context.Context, isolation.Spec) error {
		if refused {
			refused = false
			return errRefused
		}
		return nil
	}
	require.Equal(t, 500, c.do("POST", "/v2/sandboxes", `{"templateID":"base"}`, "Idempotency-Key", "k").status)
	c.create(`{"templateID":"base"}`, "Idempotency-Key", "k")
}

func TestMetricsAndLogs(t *testing.T) {
	c, _, _ := newFake(t)
	m := c.create(`{"templateID":"base"}`)
	at := "/sandboxes/" + m.SandboxID
	var metrics []map[string]any
	c.do("GET", at+"/metrics", "").into(t, &metrics)
	require.Len(t, metrics, 1)
	for key, want := range map[string]float64{"memUsed": 1, "memTotal": 2, "memCache": 3, "diskUsed": 4, "diskTotal": 5, "cpuCount": 2} {
		require.Equal(t, want, metrics[0][key], key)
	}
	require.Equal(t, "[]", c.do("GET", at+"/metrics?end=1", "").body)
	require.NotEqual(t, "[]", c.do("GET", at+"/metrics?start=1", "").body)
	c.requireFault(c.do("GET", at+"/metrics?start=x", ""), 400, "start")
	require.Contains(t, c.do("GET", "/sandboxes/metrics?sandbox_ids="+m.SandboxID+",inone", "").body, `{"sandboxes":{"`+m.SandboxID+`":{`)

	require.Equal(t, 204, c.do("POST", at+"/pause", "").status)
	require.Equal(t, 201, c.do("POST", at+"/resume", "").status)
	messages := func(query string) (got []string) {
		t.Helper()
		var logs struct {
			Logs []struct{ Message, Level string }
		}
		c.do("GET", "/v2"+at+"/logs?"+query, "").into(t, &logs)
		for _, l := range logs.Logs {
			got = append(got, l.Message)
		}
		return got
	}
	all := []string{"sandbox started", "sandbox paused", "sandbox resumed"}
	require.Equal(t, all, messages(""))
	require.Equal(t, []string{all[2], all[1], all[0]}, messages("direction=backward"))
	require.Equal(t, all[1:2], messages("search=paused"))
	require.Equal(t, all[:1], messages("limit=1"))
	require.Empty(t, messages("level=error"))
	require.Empty(t, messages(fmt.Sprintf("cursor=%d", time.Now().Add(time.Hour).UnixMilli())))
	c.requireFault(c.do("GET", "/v2"+at+"/logs?limit=1001", ""), 400, "limit")
	require.Contains(t, c.do("GET", at+"/logs", "").body, `"line":"sandbox started"`)
}

func TestTemplates(t *testing.T) {
	c, _, _ := newFake(t)
	var list []struct {
		TemplateID string
		Aliases    []string
	}
	c.do("GET", "/v2/templates", "").into(t, &list)
	require.Len(t, list, 2)
	require.Equal(t, []string{"python-base", "py"}, list[1].Aliases)
	require.JSONEq(t, `{"templateID":"python-base","public":true}`, c.do("GET", "/templates/aliases/py", "").body)
	c.requireFault(c.do("GET", "/templates/aliases/x", ""), 404, "not found")
	require.Equal(t, 200, c.do("GET", "/templates/base", "").status)
	c.requireFault(c.do("DELETE", "/templates/x", ""), 404, "not found")
	c.requireFault(c.do("DELETE", "/templates/base", ""), 501, "")
}

func TestWhatTheProviderDoesNotDo(t *testing.T) {
	c, _, _ := newFake(t)
	m := c.create(`{"templateID":"base"}`)
	for _, route := range []string{
		"POST /sandboxes/" + m.SandboxID + "/fork", "POST /sandboxes/" + m.SandboxID + "/snapshots", "GET /snapshots",
		"GET /volumes", "POST /volumes", "GET /volumes/x", "GET /secrets", "POST /secrets/x", "POST /v3/templates",
		"POST /v2/templates/x/builds/y", "GET /templates/x/builds/y/status", "GET /teams", "GET /api-keys",
	} {
		var method, path string
		_, err := fmt.Sscanf(route, "%s %s", &method, &path)
		require.NoError(t, err)
		c.requireFault(c.do(method, path, "{}"), 501, "the local provider")
	}
	c.requireFault(c.do("GET", "/nothing", ""), 404, "no route")
	c.requireFault(c.do("PATCH", "/sandboxes", ""), 404, "no route")
}

func TestTrafficThroughTheOneAddress(t *testing.T) {
	c, _, _ := newFake(t)
	m := c.create(`{"templateID":"base"}`)
	headers := []string{"E2b-Sandbox-Id", m.SandboxID, "E2b-Sandbox-Port", "49983"}
	require.Equal(t, m.SandboxID+" /health", c.do("GET", "/health", "", headers...).body)
	require.Equal(t, m.SandboxID+" /sandboxes", c.do("GET", "/sandboxes", "", "Host", "49983-"+m.SandboxID+".localhost").body)
	require.Equal(t, 502, c.do("GET", "/", "", "Host", "3000-"+m.SandboxID+".localhost").status)
	require.Equal(t, 403, c.do("GET", "/health", "", append(headers, "Host", "evil.example")...).status)
	require.Equal(t, 204, c.do("POST", "/sandboxes/"+m.SandboxID+"/pause", "").status)
	require.Equal(t, 502, c.do("GET", "/health", "", headers...).status)
	require.Equal(t, 403, c.do("GET", "/files", "", headers...).status)
	require.Equal(t, 204, c.do("DELETE", "/sandboxes/"+m.SandboxID, "").status)
	require.Equal(t, 502, c.do("GET", "/files", "", headers...).status)
}

func TestTrafficWakesASandboxThatMayBe(t *testing.T) {
	c, _, _ := newFake(t)
	m := c.create(`{"templateID":"base","autoPause":true,"autoResume":{"enabled":true}}`)
	require.Equal(t, 204, c.do("POST", "/sandboxes/"+m.SandboxID+"/pause", "").status)
	headers := []string{"E2b-Sandbox-Id", m.SandboxID, "E2b-Sandbox-Port", "49983"}
	require.Equal(t, 403, c.do("GET", "/files", "", headers...).status, "without its token")
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			require.Equal(t, 200, c.do("GET", "/x", "", append(headers, "X-Access-Token", m.EnvdAccessToken)...).status)
		})
	}
	done.Wait()
	require.Contains(t, c.do("GET", "/sandboxes/"+m.SandboxID, "").body, `"state":"running"`)
}

func TestIdle(t *testing.T) {
	c, _, s := newFake(t)
	_, idle := s.Idle()
	require.True(t, idle)
	m := c.create(`{"templateID":"base"}`)
	_, idle = s.Idle()
	require.False(t, idle)
	require.Equal(t, 204, c.do("POST", "/sandboxes/"+m.SandboxID+"/pause", "").status)
	_, idle = s.Idle()
	require.False(t, idle, "a paused sandbox is somebody's")
	require.Equal(t, 204, c.do("DELETE", "/sandboxes/"+m.SandboxID, "").status)
	require.Eventually(t, func() bool { _, idle = s.Idle(); return idle }, 5*time.Second, time.Millisecond)
	since, _ := s.Idle()
	require.WithinDuration(t, time.Now(), since, 5*time.Second)
	c.do("GET", "/health", "")
	again, _ := s.Idle()
	require.Equal(t, since, again, "asking for its health does not use a server")
}

func TestCloseLeavesNothing(t *testing.T) {
	c, _, s := newFake(t)
	for range 3 {
		c.create(`{"templateID":"base"}`)
	}
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice")
	require.Zero(t, s.fleet.Len())
	require.NoDirExists(t, s.sockets.dir)
}

func TestSocketsOfACrashedServerAreRemoved(t *testing.T) {
	state := t.TempDir()
	live, err := openSockets(state)
	require.NoError(t, err)
	crashed, err := openSockets(state)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(crashed.path("i1"), nil, 0o600))
	require.NoError(t, crashed.lock.Close())
	next, err := openSockets(state)
	require.NoError(t, err)
	require.NoDirExists(t, crashed.dir)
	require.DirExists(t, live.dir)
	require.NoError(t, live.close())
	require.NoError(t, next.close())
}

func TestNoSecretReachesTheLog(t *testing.T) {
	var log lockedBuffer
	c, engine, s := newFake(t, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	page, err := s.PageKey("https://page.example")
	require.NoError(t, err)
	m := c.create(`{"templateID":"base","envVars":{"PASSWORD":"env-secret"},"network":{"allowPublicTraffic":false,
		"egressProxy":{"address":"127.0.0.1:1","username":"u","password":"proxy-secret"}}}`)
	c.do("GET", "/files?path=x&signature=v1_signature-secret", "")
	c.do("GET", "/x", "", "E2b-Sandbox-Id", m.SandboxID, "E2b-Sandbox-Port", "3000", "E2b-Traffic-Access-Token", m.TrafficAccessToken)
	c.do("GET", "/sandboxes", "", "X-API-Key", page, "Origin", "https://page.example")
	engine.started = func(context.Context, isolation.Spec) error { return errRefused }
	c.do("POST", "/v2/sandboxes", `{"templateID":"base","envVars":{"PASSWORD":"env-secret"}}`)
	c.do("DELETE", "/sandboxes/"+m.SandboxID, "")
	text := log.String()
	require.Contains(t, text, "sandbox created")
	require.Contains(t, text, "sandbox ended")
	for _, secret := range []string{testKey, page, m.EnvdAccessToken, m.TrafficAccessToken, "env-secret", "proxy-secret", "signature-secret"} {
		require.NotContains(t, text, secret)
	}
}

// lockedBuffer is a buffer that many goroutines may write to.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestBadOptions(t *testing.T) {
	for name, opt := range map[string]Options{
		"no key":         {StateDir: t.TempDir()},
		"relative state": {StateDir: "state", APIKey: "k"},
		"bad origin":     {StateDir: t.TempDir(), APIKey: "k", AllowOrigins: []string{"*"}},
	} {
		_, err := New(t.Context(), opt)
		require.Error(t, err, name)
	}
}

func TestASandboxOverItsDiskLimitSaysSo(t *testing.T) {
	c, _, s := newFake(t)
	m := c.create(`{"templateID":"base"}`)
	box, ok := s.members.get(m.SandboxID).Box().(*fakeBox)
	require.True(t, ok)
	inside := func(path string) answer {
		return c.do("GET", path, "", "E2b-Sandbox-Id", m.SandboxID, "E2b-Sandbox-Port", "49983")
	}
	for _, remedy := range []string{"/sandboxes/" + m.SandboxID + "/resume", "/v2/sandboxes/" + m.SandboxID + "/connect"} {
		box.full.Store(true)
		c.requireFault(inside("/envs"), http.StatusInsufficientStorage, "disk limit")
		require.Equal(t, http.StatusInsufficientStorage, inside("/health").status)
		a := c.do("POST", remedy, "{}")
		require.Equal(t, http.StatusCreated, a.status, a.body)
		require.Equal(t, http.StatusOK, inside("/envs").status, "it goes on, to delete files")
	}
}

package gateway

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeTarget is a sandbox whose ports are handlers of the test.
type fakeTarget struct {
	id, token, traffic, mask string
	enter                    func(mayWake bool) error
	transport                http.RoundTripper
}

func (f *fakeTarget) ID() string                   { return f.id }
func (f *fakeTarget) Token() string                { return f.token }
func (f *fakeTarget) TrafficToken() string         { return f.traffic }
func (f *fakeTarget) MaskHost() string             { return f.mask }
func (f *fakeTarget) Transport() http.RoundTripper { return f.transport }
func (f *fakeTarget) Enter(_ context.Context, mayWake bool) error {
	if f.enter == nil {
		return nil
	}
	return f.enter(mayWake)
}

type fakeDirectory []*fakeTarget

func (d fakeDirectory) Target(id string) Target {
	for _, t := range d {
		if t.id == id {
			return t
		}
	}
	return nil
}

func (d fakeDirectory) Targets() []Target {
	all := make([]Target, len(d))
	for i, t := range d {
		all[i] = t
	}
	return all
}

// serve starts a gateway before the given sandboxes; behind answers on port
// 49983 and 3000 of each, and every other port is closed.
func serve(t *testing.T, behind http.Handler, targets ...*fakeTarget) *httptest.Server {
	t.Helper()
	inside := httptest.NewServer(behind)
	t.Cleanup(inside.Close)
	for _, target := range targets {
		transport := NewTransport(func(ctx context.Context, port int) (net.Conn, error) {
			if port != DaemonPort && port != 3000 {
				return nil, ErrPortClosed
			}
			var d net.Dialer
			return d.DialContext(ctx, "tcp", inside.Listener.Addr().String())
		})
		t.Cleanup(transport.CloseIdleConnections)
		target.transport = transport
	}
	front := httptest.NewServer(New(fakeDirectory(targets), log.New(io.Discard, "", 0)))
	t.Cleanup(front.Close)
	return front
}

// call sends one request to the gateway. A header named Host sets the host.
func call(t *testing.T, front *httptest.Server, method, path string, headers map[string]string, body io.Reader) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, front.URL+path, body)
	require.NoError(t, err)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	r.Host = r.Header.Get("Host")
	r.Header.Del("Host")
	resp, err := front.Client().Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(body)
}

func to(id string, port string) map[string]string {
	return map[string]string{headerID: id, headerPort: port}
}

func with(headers map[string]string, more ...string) map[string]string {
	for i := 0; i < len(more); i += 2 {
		headers[more[i]] = more[i+1]
	}
	return headers
}

func echo() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"host": r.Host, "uri": r.RequestURI, "method": r.Method, "header": r.Header, "body": string(body),
		})
	})
}

func TestRouting(t *testing.T) {
	front := serve(t, echo(), &fakeTarget{id: "iabc"})
	for name, c := range map[string]struct {
		headers map[string]string
		status  int
		want    string
	}{
		"by headers":             {to("iabc", "3000"), 200, `"uri":"/x?a=b;c\u0026d=%zz"`},
		"by name":                {with(map[string]string{}, "Host", "3000-iabc.localhost:9"), 200, `"host":"3000-iabc.localhost:9"`},
		"by a spread name":       {with(map[string]string{}, "Host", "49983-iabc-7.localhost"), 200, `"host":"49983-iabc-7.localhost"`},
		"a name beats headers":   {with(to("iother", "1"), "Host", "3000-iabc.localhost"), 200, `"uri"`},
		"the shared name":        {with(to("iabc", "3000"), "Host", "sandbox.localhost"), 200, `"uri"`},
		"unknown sandbox":        {to("inone", "3000"), 502, `{"sandboxId":"inone","message":"The sandbox was not found","code":502}`},
		"closed port":            {to("iabc", "3001"), 502, `{"sandboxId":"iabc","message":"The sandbox is running but port is not open","port":3001,"code":502}`},
		"no port":                {map[string]string{headerID: "iabc"}, 400, "missing header"},
		"no id":                  {map[string]string{headerPort: "3000"}, 400, "missing header"},
		"port out of range":      {to("iabc", "65536"), 400, "Invalid sandbox port"},
		"port zero":              {to("iabc", "0"), 400, "Invalid sandbox port"},
		"port that is no number": {to("iabc", "http"), 400, "Invalid sandbox port"},
		"id with a path":         {to("../etc", "3000"), 400, "Invalid sandbox ID"},
		"name without a dash":    {with(map[string]string{}, "Host", "evil.localhost"), 400, "Invalid host"},
	} {
		t.Run(name, func(t *testing.T) {
			resp := call(t, front, http.MethodGet, "/x?a=b;c&d=%zz", c.headers, nil)
			require.Equal(t, c.status, resp.StatusCode)
			require.Contains(t, text(t, resp), c.want)
			if c.status >= 400 {
				require.Equal(t, "*", resp.Header.Get("Access-Control-Allow-Origin"), "a page must see the status")
			}
		})
	}
}

func TestMine(t *testing.T) {
	for name, c := range map[string]struct {
		method, url string
		headers     map[string]string
		want        bool
	}{
		"control plane":       {"GET", "http://localhost:1/sandboxes", nil, false},
		"its derived name":    {"GET", "http://api.localhost:1/sandboxes", nil, false},
		"sandbox name":        {"GET", "http://49983-iabc.localhost:1/health", nil, true},
		"any other name":      {"GET", "http://x.localhost:1/sandboxes", nil, true},
		"header":              {"GET", "http://localhost:1/health", map[string]string{headerID: "iabc"}, true},
		"half a header":       {"GET", "http://localhost:1/health", map[string]string{headerPort: "1"}, true},
		"signed URL":          {"GET", "http://localhost:1/files?path=a&signature=v1_x", nil, true},
		"unsigned files":      {"GET", "http://localhost:1/files?path=a", nil, false},
		"preflight for it":    {"OPTIONS", "http://localhost:1/process.Process/Start", map[string]string{"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "e2b-sandbox-id,x-access-token"}, true},
		"preflight for files": {"OPTIONS", "http://localhost:1/files", map[string]string{"Access-Control-Request-Method": "POST"}, true},
		"other preflight":     {"OPTIONS", "http://localhost:1/sandboxes", map[string]string{"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.url, nil)
			for name, value := range c.headers {
				r.Header.Set(name, value)
			}
			require.Equal(t, c.want, Mine(r))
		})
	}
}

func TestWhatPassesInside(t *testing.T) {
	front := serve(t, echo(), &fakeTarget{id: "iabc", token: "tok", traffic: "trf", mask: "app.local:${PORT}"})
	headers := func(port string) map[string]string {
		return with(to("iabc", port), "X-API-Key", "server-key", "X-Access-Token", "tok",
			"Authorization", "Basic cm9vdDo=", "E2B-Traffic-Access-Token", "trf", "X-Custom", "1")
	}
	resp := call(t, front, http.MethodPost, "/a%2Fb//c/../d?x", headers("3000"), strings.NewReader("hello"))
	require.Equal(t, 200, resp.StatusCode)
	var got struct {
		Host, URI, Method, Body string
		Header                  http.Header
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&got))
	require.Equal(t, "/a%2Fb//c/../d?x", got.URI, "a path is data")
	require.Equal(t, "app.local:3000", got.Host)
	require.Equal(t, "hello", got.Body)
	require.Equal(t, "1", got.Header.Get("X-Custom"))
	require.Equal(t, "Basic cm9vdDo=", got.Header.Get("Authorization"))
	require.Empty(t, got.Header.Get("X-Api-Key"), "the server's key")
	require.Empty(t, got.Header.Get("E2b-Traffic-Access-Token"))

	resp = call(t, front, http.MethodPost, "/x", headers("49983"), nil)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&got))
	require.NotContains(t, got.Host, "app.local", "the daemon's Host is not masked")
	require.Equal(t, "tok", got.Header.Get("X-Access-Token"))
}

func TestTrafficToken(t *testing.T) {
	front := serve(t, echo(), &fakeTarget{id: "iabc", traffic: "trf"})
	for name, c := range map[string]struct {
		port, token string
		status      int
		want        string
	}{
		"missing":        {"3000", "", 403, "Token header 'e2b-traffic-access-token' is missing"},
		"wrong":          {"3000", "trg", 403, "Token header 'e2b-traffic-access-token' is invalid"},
		"right":          {"3000", "trf", 200, ""},
		"for the daemon": {"49983", "", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			resp := call(t, front, http.MethodGet, "/", with(to("iabc", c.port), "E2b-Traffic-Access-Token", c.token), nil)
			require.Equal(t, c.status, resp.StatusCode)
			require.Contains(t, text(t, resp), c.want)
		})
	}
}

func TestControlRoutesOfTheDaemonAreShut(t *testing.T) {
	front := serve(t, echo(), &fakeTarget{id: "iabc"})
	for _, p := range []string{"/init", "//init", "/x/../init", "/init/", "/%69nit", "/freeze", "/unfreeze", "/collapse", "/fsfreeze", "/fsthaw", "/upgrade"} {
		resp := call(t, front, http.MethodPost, p, to("iabc", "49983"), nil)
		require.Equal(t, 404, resp.StatusCode, p)
		require.Contains(t, text(t, resp), `"code":404`)
	}
	require.Equal(t, 200, call(t, front, http.MethodPost, "/init", to("iabc", "3000"), nil).StatusCode, "other ports have their own /init")
}

func TestStatesOfASandbox(t *testing.T) {
	for name, c := range map[string]struct {
		err            error
		status, health int
	}{
		"gone":     {ErrGone, 502, 502},
		"paused":   {ErrPaused, 403, 502},
		"full":     {ErrFull, 507, 507},
		"changing": {ErrChanging, 409, 409},
	} {
		t.Run(name, func(t *testing.T) {
			front := serve(t, echo(), &fakeTarget{id: "iabc", enter: func(bool) error { return c.err }})
			require.Equal(t, c.status, call(t, front, http.MethodGet, "/x", to("iabc", "49983"), nil).StatusCode)
			require.Equal(t, c.health, call(t, front, http.MethodGet, "/health", to("iabc", "49983"), nil).StatusCode)
		})
	}
}

func TestOnlyGoodCredentialsWake(t *testing.T) {
	var woke atomic.Bool
	front := serve(t, echo(), &fakeTarget{id: "iabc", token: "tok", enter: func(mayWake bool) error {
		woke.Store(mayWake)
		return nil
	}})
	query := url.Values{"path": {"/a"}, "username": {"user"}}
	query.Set("signature", signature("GET", query, "tok"))
	for name, c := range map[string]struct {
		method, path string
		headers      map[string]string
		want         bool
	}{
		"no token":   {"GET", "/health", to("iabc", "49983"), false},
		"bad token":  {"GET", "/health", with(to("iabc", "49983"), "X-Access-Token", "tol"), false},
		"token":      {"GET", "/health", with(to("iabc", "49983"), "X-Access-Token", "tok"), true},
		"signature":  {"GET", "/files?" + query.Encode(), to("iabc", "49983"), true},
		"other verb": {"POST", "/files?" + query.Encode(), to("iabc", "49983"), false},
		"preflight":  {"OPTIONS", "/health", with(to("iabc", "3000"), "Access-Control-Request-Method", "GET"), false},
		"other port": {"GET", "/", to("iabc", "3000"), true},
	} {
		t.Run(name, func(t *testing.T) {
			call(t, front, c.method, c.path, c.headers, nil)
			require.Equal(t, c.want, woke.Load())
		})
	}
}

func TestSignedURLFindsItsSandbox(t *testing.T) {
	var asked atomic.Value
	targets := []*fakeTarget{{id: "ione", token: "one"}, {id: "itwo", token: "two"}, {id: "iopen"}}
	for _, target := range targets {
		target.enter = func(bool) error { asked.Store(target.id); return nil }
	}
	front := serve(t, echo(), targets...)
	sign := func(method, token string, extra ...string) string {
		q := url.Values{"path": {"/a b.txt"}, "username": {"user"}}
		for i := 0; i < len(extra); i += 2 {
			q.Set(extra[i], extra[i+1])
		}
		q.Set("signature", signature(method, q, token))
		return "/files?" + q.Encode()
	}
	for name, c := range map[string]struct {
		method, path string
		want         string
	}{
		"first":           {"GET", sign("GET", "one"), "ione"},
		"second":          {"GET", sign("GET", "two"), "itwo"},
		"upload":          {"POST", sign("POST", "two"), "itwo"},
		"with expiry":     {"GET", sign("GET", "one", "signature_expiration", "99"), "ione"},
		"read as write":   {"POST", sign("GET", "one"), ""},
		"unknown token":   {"GET", sign("GET", "three"), ""},
		"token of nobody": {"GET", sign("GET", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store("")
			resp := call(t, front, c.method, c.path, nil, nil)
			require.Equal(t, c.want, asked.Load())
			if c.want == "" {
				require.Equal(t, 401, resp.StatusCode)
			} else {
				require.Equal(t, 200, resp.StatusCode)
			}
		})
	}
	// The value of the published SDK's getSignature for a known token (e2b.md 3.1).
	require.Equal(t, "v1_", signature("GET", url.Values{}, "t")[:3])
}

func TestPreflightOfAMissingSandboxIsAnswered(t *testing.T) {
	front := serve(t, echo())
	resp := call(t, front, http.MethodOptions, "/health", with(to("inone", "49983"),
		"Origin", "https://app.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-access-token"), nil)
	require.Equal(t, 204, resp.StatusCode)
	require.Equal(t, "*", resp.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "x-access-token", resp.Header.Get("Access-Control-Allow-Headers"))
	require.Empty(t, resp.Header.Get("Access-Control-Allow-Credentials"))
}

func TestPageForABrowser(t *testing.T) {
	front := serve(t, echo())
	html := "text/html,application/xhtml+xml,*/*;q=0.8"
	for name, c := range map[string]struct {
		headers map[string]string
		html    bool
	}{
		"navigation": {map[string]string{"Accept": html, "Sec-Fetch-Mode": "navigate"}, true},
		"old":        {map[string]string{"Accept": html}, true},
		"fetch":      {map[string]string{"Accept": html, "Sec-Fetch-Mode": "cors"}, false},
		"xhr":        {map[string]string{"Accept": html, "X-Requested-With": "XMLHttpRequest"}, false},
		"curl":       {map[string]string{"Accept": "*/*"}, false},
		"json":       {map[string]string{"Accept": "application/json"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			resp := call(t, front, http.MethodGet, "/", with(c.headers, headerID, "inone", headerPort, "3000"), nil)
			require.Equal(t, 502, resp.StatusCode)
			require.Equal(t, c.html, strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"))
			require.Contains(t, text(t, resp), "inone")
		})
	}
}

func TestStreamsPassAsTheyCome(t *testing.T) {
	step := make(chan struct{})
	behind := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "event %d\n", i)
			w.(http.Flusher).Flush()
			<-step
		}
	})
	front := serve(t, behind, &fakeTarget{id: "iabc"})
	resp := call(t, front, http.MethodGet, "/", to("iabc", "3000"), nil)
	lines := bufio.NewReader(resp.Body)
	for i := range 3 {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("event %d\n", i), line)
		step <- struct{}{}
	}
}

func TestRequestAndAnswerRunAtOnce(t *testing.T) {
	behind := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		buf := make([]byte, 64)
		for {
			n, err := r.Body.Read(buf)
			if n > 0 {
				_, _ = w.Write(bytes.ToUpper(buf[:n]))
				w.(http.Flusher).Flush()
			}
			if err != nil {
				return
			}
		}
	})
	front := serve(t, behind, &fakeTarget{id: "iabc"})
	conn, err := net.Dial("tcp", front.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: 3000-iabc.localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
	require.NoError(t, err)
	answer := bufio.NewReader(conn)
	resp, err := http.ReadResponse(answer, nil)
	require.NoError(t, err)
	one := make([]byte, 1)
	_, err = io.ReadFull(resp.Body, one)
	require.NoError(t, err)
	require.Equal(t, "A", string(one))
	_, err = fmt.Fprintf(conn, "1\r\nb\r\n0\r\n\r\n")
	require.NoError(t, err)
	rest, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, "B", string(rest))
}

// raw opens a connection to the gateway and sends the head of a request.
func raw(t *testing.T, front *httptest.Server, head string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", front.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(9*time.Second)))
	_, err = io.WriteString(conn, head)
	require.NoError(t, err)
	return conn, bufio.NewReader(conn)
}

func TestAnEarlyNoReachesALongUpload(t *testing.T) {
	behind := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "full", http.StatusInsufficientStorage)
	})
	front := serve(t, behind, &fakeTarget{id: "iabc"})
	for name, c := range map[string]struct {
		host   string
		status int
	}{
		"from inside":      {"3000-iabc.localhost", 507},
		"from the gateway": {"3000-inone.localhost", 502},
		"from a shut port": {"3001-iabc.localhost", 502},
	} {
		t.Run(name, func(t *testing.T) {
			const size = 16 << 20
			conn, answer := raw(t, front, fmt.Sprintf("POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", c.host, size))
			piece := make([]byte, 64<<10)
			for sent := 0; sent < size; sent += len(piece) {
				_, err := conn.Write(piece)
				require.NoError(t, err, "after %d bytes", sent)
				if sent == 4<<20 {
					time.Sleep(700 * time.Millisecond)
				}
			}
			resp, err := http.ReadResponse(answer, nil)
			require.NoError(t, err)
			require.Equal(t, c.status, resp.StatusCode)
			_, err = io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.True(t, resp.Close)
		})
	}
}

func TestAnEarlyAnswerEndsWhileTheRequestIsOpen(t *testing.T) {
	for name, behind := range map[string]http.HandlerFunc{
		"with a length": func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			http.Error(w, "no", http.StatusConflict)
		},
		"streamed": func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			w.WriteHeader(http.StatusConflict)
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, "no\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			front := serve(t, behind, &fakeTarget{id: "iabc"})
			conn, answer := raw(t, front, "POST / HTTP/1.1\r\nHost: 3000-iabc.localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
			require.NoError(t, conn.SetDeadline(time.Now().Add(2*time.Second)))
			resp, err := http.ReadResponse(answer, nil)
			require.NoError(t, err)
			require.Equal(t, 409, resp.StatusCode)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, "no\n", string(body))
		})
	}
}

func TestUpgradePasses(t *testing.T) {
	behind := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		_, _ = rw.WriteString("> " + line)
		_ = rw.Flush()
	})
	front := serve(t, behind, &fakeTarget{id: "iabc"})
	conn, err := net.Dial("tcp", front.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	_, err = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: 3000-iabc.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	require.NoError(t, err)
	answer := bufio.NewReader(conn)
	resp, err := http.ReadResponse(answer, nil)
	require.NoError(t, err)
	require.Equal(t, 101, resp.StatusCode)
	_, err = fmt.Fprintf(conn, "hello\n")
	require.NoError(t, err)
	line, err := answer.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "> hello\n", line)
}

func TestACancelReachesInside(t *testing.T) {
	started, cancelled := make(chan struct{}), make(chan struct{})
	behind := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		close(started)
		<-r.Context().Done()
		close(cancelled)
	})
	front := serve(t, behind, &fakeTarget{id: "iabc"})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, front.URL, nil)
	require.NoError(t, err)
	r.Header.Set(headerID, "iabc")
	r.Header.Set(headerPort, "3000")
	resp, err := front.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	<-started
	cancel()
	select {
	case <-cancelled:
	case <-time.After(5 * time.Second):
		t.Fatal("the sandbox was not told")
	}
}

func TestAnAnswerCutInsideIsCutOutside(t *testing.T) {
	behind := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("half"))
		w.(http.Flusher).Flush()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	front := serve(t, behind, &fakeTarget{id: "iabc"})
	resp := call(t, front, http.MethodGet, "/", to("iabc", "3000"), nil)
	body, err := io.ReadAll(resp.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "never a clean end")
	require.Equal(t, "half", string(body))
}

func TestLargeBodiesPassWhole(t *testing.T) {
	sent := make([]byte, 5<<20+7)
	_, _ = rand.Read(sent)
	behind := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Length", fmt.Sprint(len(got)))
		_, _ = w.Write(got)
	})
	front := serve(t, behind, &fakeTarget{id: "iabc"})
	for name, body := range map[string]io.Reader{
		"with a length": bytes.NewReader(sent),
		"chunked":       io.MultiReader(bytes.NewReader(sent)),
	} {
		resp := call(t, front, http.MethodPost, "/", to("iabc", "3000"), body)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err, name)
		require.True(t, bytes.Equal(sent, got), name)
	}
}

// A body that was not read to its end makes net/http close the connection; a
// client that is not told sends its next request into it.
func TestAnAnswerBeforeTheEndOfTheBodyClosesItsConnection(t *testing.T) {
	front := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/all" {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		w.WriteHeader(http.StatusTeapot)
	}), &fakeTarget{id: "i1"})
	size := 8 << 20
	for _, test := range []struct {
		name, path, port string
		status           int
		closes           bool
	}{
		{"read to its end", "/all", "3000", http.StatusTeapot, false},
		{"answered at once", "/none", "3000", http.StatusTeapot, true},
		{"sent to a closed port", "/", "4000", http.StatusBadGateway, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", front.Listener.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			go func() {
				_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%s: i1\r\n%s: %s\r\nContent-Length: %d\r\n\r\n",
					test.path, headerID, headerPort, test.port, size)
				_, _ = conn.Write(make([]byte, size))
			}()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			require.Equal(t, test.status, resp.StatusCode)
			require.Equal(t, test.closes, resp.Close)
		})
	}
}

func FuzzRoute(f *testing.F) {
	f.Add("3000-iabc.localhost:1", "", "")
	f.Add("localhost", "iabc", "3000")
	f.Fuzz(func(t *testing.T, host, id, port string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		r.Header[headerID] = []string{id}
		r.Header[headerPort] = []string{port}
		if to, fault := parseRoute(r); fault == nil {
			require.NotEmpty(t, to.id)
			require.NotContains(t, to.id, "/")
			require.Positive(t, to.port)
		}
	})
}

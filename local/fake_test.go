//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/fleet"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

const testKey = "e2b_0123456789abcdef"

// fakeEngine makes boxes that are HTTP servers of the test's own process. It
// serves the tests of the wire; what isolates is tested with the real one.
type fakeEngine struct {
	mu    sync.Mutex
	specs []isolation.Spec
	// started, if set, is told of each start and may refuse it.
	started func(context.Context, isolation.Spec) error
}

func (e *fakeEngine) Templates() []isolation.Template {
	return []isolation.Template{{ID: "base", Description: "shell"}, {ID: "python-base", Aliases: []string{"py"}}}
}

func (e *fakeEngine) Start(ctx context.Context, spec isolation.Spec) (box, error) {
	if e.started != nil {
		if err := e.started(ctx, spec); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	e.specs = append(e.specs, spec)
	e.mu.Unlock()
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, spec.ID+" "+r.URL.Path)
	}))
	return &fakeBox{inside: inside, done: make(chan struct{})}, nil
}

func (e *fakeEngine) Close() error { return nil }

// last returns what the newest box was started with.
func (e *fakeEngine) last(t *testing.T) isolation.Spec {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	require.NotEmpty(t, e.specs)
	return e.specs[len(e.specs)-1]
}

type fakeBox struct {
	inside *httptest.Server
	once   sync.Once
	done   chan struct{}
	full   atomic.Bool
}

func (b *fakeBox) Full() bool { return b.full.Load() }

func (b *fakeBox) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", b.inside.Listener.Addr().String())
}

func (b *fakeBox) DialPort(context.Context, int) (net.Conn, error) {
	return nil, unreachable(&isolation.PortClosedError{})
}
func (b *fakeBox) Pause(context.Context) error { return nil }
func (b *fakeBox) Resume(context.Context) error {
	b.full.Store(false)
	return nil
}
func (b *fakeBox) Done() <-chan struct{} { return b.done }
func (b *fakeBox) Limits() []isolation.Limit {
	return []isolation.Limit{{Name: "disk", Value: "1", Why: "watched"}}
}

func (b *fakeBox) Usage() (fleet.Usage, error) {
	return fleet.Usage{CPU: time.Second, MemUsed: 1, MemTotal: 2, MemCache: 3, DiskUsed: 4, DiskTotal: 5}, nil
}

func (b *fakeBox) Kill() error {
	b.once.Do(func() {
		b.inside.CloseClientConnections()
		b.inside.Close()
		close(b.done)
	})
	return nil
}

// client talks to a server under test.
type client struct {
	t    *testing.T
	base string
	http *http.Client
}

// newFake starts a server with a fake engine.
func newFake(t *testing.T, change ...func(*Options)) (*client, *fakeEngine, *Server) {
	t.Helper()
	opt := Options{StateDir: t.TempDir(), Internet: true, APIKey: testKey, Version: "test"}
	for _, change := range change {
		change(&opt)
	}
	require.NoError(t, opt.check())
	engine := &fakeEngine{}
	s, err := newServer(opt, engine, nil)
	require.NoError(t, err)
	return serving(t, s), engine, s
}

// serving lets a server listen for the length of the test.
func serving(t *testing.T, s *Server) *client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	transport := &http.Transport{}
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, <-served)
		transport.CloseIdleConnections()
	})
	return &client{t: t, base: "http://" + l.Addr().String(), http: &http.Client{Transport: transport, Timeout: 30 * time.Second}}
}

// answer is what came back from the server.
type answer struct {
	status int
	header http.Header
	body   string
}

// into decodes the body.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.body), v), a.body)
}

// do sends a request with the right key. A header of "-" is left out.
func (c *client) do(method, path, body string, headers ...string) answer {
	c.t.Helper()
	a, err := c.try(context.Background(), method, path, body, headers...)
	require.NoError(c.t, err)
	return a
}

func (c *client) try(ctx context.Context, method, path, body string, headers ...string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("X-API-Key", testKey)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "-" {
			r.Header.Del(headers[i])
		}
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(text)}, err
}

// made is what tests need of a created sandbox.
type made struct {
	SandboxID, TemplateID, Alias, EnvdVersion, EnvdAccessToken, TrafficAccessToken, Domain, Isolation string
}

// create makes a sandbox.
func (c *client) create(body string, headers ...string) made {
	c.t.Helper()
	a := c.do("POST", "/v2/sandboxes", body, headers...)
	require.Equal(c.t, http.StatusCreated, a.status, a.body)
	var m made
	a.into(c.t, &m)
	return m
}

var errRefused = errors.New("namespaces are refused: set x to y")

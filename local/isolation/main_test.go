//go:build linux

package isolation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/egress"
	"github.com/agent-sandbox/agent-sandbox/local/guest"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

func TestMain(m *testing.M) {
	if handled, code := guest.Run(os.Args, hook); handled {
		os.Exit(code)
	}
	if role, ok := roles()[os.Args[0]]; ok {
		os.Exit(role(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// hook is the service of the sandboxes of these tests: it runs commands.
func hook(in guest.Inside) (http.Handler, error) {
	mux := http.NewServeMux()
	h := &hooked{Handler: mux, env: in.Env}
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/run", func(w http.ResponseWriter, r *http.Request) {
		var c command
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in.Env = h.environment()
		_ = json.NewEncoder(w).Encode(c.run(in))
	})
	return h, nil
}

// hooked is a service that can be warmed and claimed.
type hooked struct {
	http.Handler
	mu  sync.Mutex
	env map[string]string
}

func (h *hooked) Warm(context.Context) error {
	if h.environment()["COLD"] != "" {
		return errors.New("it stays cold")
	}
	return os.WriteFile("/tmp/warmed", nil, 0o644) //nolint:gosec // others read it
}

func (h *hooked) Claim(_ context.Context, env map[string]string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.env = env
	return nil
}

func (h *hooked) environment() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.env
}

// command is a script, or a role of this test binary to play inside.
type command struct {
	User   string
	Script string
	Role   []string
}

// inside is where the test binary is found inside: it is what sudo is.
const inside = "/usr/bin/sudo"

type result struct {
	Out  string
	Code int
}

func (c command) run(in guest.Inside) result {
	user, err := in.Users.Lookup(c.User)
	if err != nil {
		return result{Out: err.Error(), Code: -1}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return result{Out: err.Error(), Code: -1}
	}
	null, _ := os.Open(os.DevNull)
	env := []string{"PATH=" + isolation.Path, "HOME=" + user.Home, "USER=" + user.Name}
	for k, v := range in.Env {
		env = append(env, k+"="+v)
	}
	path, args := "/bin/sh", []string{"sh", "-c", c.Script}
	if len(c.Role) > 0 {
		path, args = inside, c.Role
	}
	p, err := in.Launcher.Launch(&daemon.Launch{
		Path: path, Args: args, Env: env, Dir: user.Home, User: user, Stdin: null, Stdout: w, Stderr: w,
	})
	_ = w.Close()
	_ = null.Close()
	if err != nil {
		return result{Out: err.Error(), Code: -1}
	}
	out, _ := io.ReadAll(io.LimitReader(r, 1<<20))
	_ = r.Close()
	status := p.Wait()
	if status.Signaled() {
		return result{Out: string(out), Code: 128 + int(status.Signal())}
	}
	return result{Out: string(out), Code: status.ExitStatus()}
}

func open(t testing.TB) *isolation.Engine {
	t.Helper()
	e, err := isolation.Open(context.Background(), isolation.Config{StateDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func start(t testing.TB, e *isolation.Engine, s isolation.Spec) *isolation.Box {
	t.Helper()
	b, err := e.Start(context.Background(), s)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Kill()) })
	return b
}

func client(b *isolation.Box) *http.Client {
	return &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return b.Dial(ctx) },
			DisableKeepAlives: true,
		},
	}
}

func run(t testing.TB, b *isolation.Box, user, script string) result {
	t.Helper()
	return play(t, b, command{User: user, Script: script})
}

func play(t testing.TB, b *isolation.Box, c command) result {
	t.Helper()
	body, err := json.Marshal(c)
	require.NoError(t, err)
	resp, err := client(b).Post("http://box/run", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var r result
	require.NoError(t, json.Unmarshal(all, &r), string(all))
	return r
}

// relay opens the host side of a sandbox's network.
func relay(t testing.TB, rules egress.Rules) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "egress.sock")
	h := egress.NewHost(egress.HostOptions{Registries: true, Env: os.Environ()})
	p, err := h.Open(socket, rules)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return socket
}

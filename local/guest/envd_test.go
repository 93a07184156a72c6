//go:build linux

package guest_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/guest"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

func TestMain(m *testing.M) {
	if handled, code := guest.Main(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestEnvdAnswersInASandbox(t *testing.T) {
	e, err := isolation.Open(context.Background(), isolation.Config{StateDir: t.TempDir(), Pool: -1})
	require.NoError(t, err)
	defer e.Close()
	b, err := e.Start(context.Background(), isolation.Spec{
		ID: "envd", Token: "secret", Envs: map[string]string{"A": "b"}, MemoryMB: 256,
	})
	require.NoError(t, err)
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return b.Dial(ctx) },
		DisableKeepAlives: true,
	}}
	ask := func(method, path, token, body string) (int, string) {
		req, err := http.NewRequest(method, "http://box"+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("X-Access-Token", token)
		req.Header.Set("Content-Type", "application/json")
		if strings.HasPrefix(path, "/files?") {
			req.Header.Set("Content-Type", "application/octet-stream")
		}
		resp, err := client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(all)
	}
	status, _ := ask("GET", "/health", "", "")
	require.Equal(t, http.StatusNoContent, status)
	status, _ = ask("GET", "/envs", "wrong", "")
	require.Equal(t, http.StatusUnauthorized, status)
	status, body := ask("GET", "/envs", "secret", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `"A":"b"`)
	require.Contains(t, body, `"E2B_SANDBOX":"true"`)
	status, body = ask("POST", "/files?path=hello.txt&username=user", "secret", "hello")
	require.Equal(t, http.StatusOK, status, body)
	status, body = ask("POST", "/filesystem.Filesystem/Stat", "secret", `{"path":"/home/user/hello.txt"}`)
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, body, `"user"`)
	status, body = ask("GET", "/metrics", "secret", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `"mem_total":268435456`)
}

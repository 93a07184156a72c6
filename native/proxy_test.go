package native_test

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// env is an environment of a few variables.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func newHost(t *testing.T, o native.HostOptions) *native.Host {
	t.Helper()
	o.StoreDir = t.TempDir()
	h, err := native.NewHost(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// status does a GET and gives its status, or its error.
func status(t *testing.T, h *native.Host, url string) (int, error) {
	t.Helper()
	r, err := h.Do(t.Context(), &transport.Request{Method: "GET", URL: url})
	if err != nil {
		return 0, err
	}
	r.Body.Close()
	return r.Status, nil
}

// newProxy answers 299 to whatever is asked of it, and notes the target.
func newProxy(t *testing.T) (proxy *httptest.Server, asked func() string) {
	var last string
	proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = r.Method + " " + r.RequestURI + " " + r.Header.Get("Proxy-Authorization")
		w.WriteHeader(299)
	}))
	t.Cleanup(proxy.Close)
	return proxy, func() string { return strings.TrimSpace(last) }
}

func TestProxyIsTakenFromOptionOrEnvironment(t *testing.T) {
	proxy, asked := newProxy(t)
	for name, o := range map[string]native.HostOptions{
		"option":         {Proxy: proxy.URL, Getenv: env()},
		"upper case":     {Getenv: env("HTTP_PROXY", proxy.URL)},
		"lower case":     {Getenv: env("http_proxy", proxy.URL)},
		"option is over": {Proxy: proxy.URL, Getenv: env("HTTP_PROXY", "http://127.0.0.1:1", "NO_PROXY", "*")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := status(t, newHost(t, o), "http://api.example.test/x?y")
			require.NoError(t, err)
			require.Equal(t, 299, got)
			require.Equal(t, "GET http://api.example.test/x?y", asked())
		})
	}
}

func TestProxyIsLeftAlone(t *testing.T) {
	proxy, _ := newProxy(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	h := newHost(t, native.HostOptions{Getenv: env("HTTP_PROXY", proxy.URL)})
	for _, host := range []string{"127.0.0.1", "localhost", "49983-x.localhost"} {
		got, err := status(t, h, "http://"+host+port)
		require.NoError(t, err)
		require.Equal(t, 204, got, "loopback")
	}
	for name, o := range map[string]native.HostOptions{
		"NO_PROXY": {Getenv: env("HTTP_PROXY", proxy.URL, "NO_PROXY", "example.test")},
		"no_proxy": {Getenv: env("HTTP_PROXY", proxy.URL, "no_proxy", ".test")},
		"direct":   {Proxy: "direct", Getenv: env("HTTP_PROXY", proxy.URL)},
	} {
		_, err := status(t, newHost(t, o), "http://api.example.test/")
		var e *transport.NetError
		require.ErrorAs(t, err, &e, name)
		require.Equal(t, transport.NetResolve, e.Kind, name)
	}
}

func TestProxyThatRefusesIsNoConnection(t *testing.T) {
	proxy, asked := newProxy(t)
	u, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	u.User = url.UserPassword("me", "sEcReT")
	_, err = status(t, newHost(t, native.HostOptions{Getenv: env("HTTPS_PROXY", u.String())}), "https://api.example.test/")
	var e *transport.NetError
	require.ErrorAs(t, err, &e)
	require.Equal(t, transport.NetConnect, e.Kind)
	require.Contains(t, e.Message, "299 to CONNECT")
	require.Equal(t, "CONNECT api.example.test:443 Basic bWU6c0VjUmVU", asked())
}

func TestProxyFailuresKeepThePassword(t *testing.T) {
	_, err := native.NewHost(native.HostOptions{Proxy: "http://me:sEcReT@bad host/%zz"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "sEcReT")

	_, err = status(t, newHost(t, native.HostOptions{Proxy: "http://me:sEcReT@127.0.0.1:1"}), "http://api.example.test/")
	var e *transport.NetError
	require.ErrorAs(t, err, &e)
	require.Equal(t, transport.NetConnect, e.Kind)
	require.NotContains(t, e.Error()+e.Cause.Error(), "sEcReT")
	require.Equal(t, "the proxy 127.0.0.1:1", e.Host, "the peer was not tried")
}

func TestProxyWhoseNameDoesNotResolveIsNamed(t *testing.T) {
	for _, url := range []string{"http://api.example.test/", "https://api.example.test/"} {
		_, err := status(t, newHost(t, native.HostOptions{Proxy: "http://me:sEcReT@proxy.invalid:3128"}), url)
		var e *transport.NetError
		require.ErrorAs(t, err, &e)
		require.Equal(t, transport.NetResolve, e.Kind)
		require.Equal(t, "the proxy proxy.invalid:3128", e.Host)
	}
}

func TestTunnelThroughAProxy(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer server.Close()
	proxy := httptest.NewServer(tunnel(server.Listener.Addr().String()))
	defer proxy.Close()
	h := newHost(t, native.HostOptions{Proxy: proxy.URL, CAFile: caFile(t, server)})
	got, err := status(t, h, "https://example.com/") // the name in httptest's certificate
	require.NoError(t, err)
	require.Equal(t, 204, got)
}

// tunnel is a CONNECT proxy with one target.
func tunnel(target string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		client, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer client.Close()
		server, err := net.Dial("tcp", target)
		if err != nil {
			return
		}
		defer server.Close()
		_, _ = client.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		go func() { _, _ = bufio.NewReader(client).WriteTo(server) }()
		_, _ = bufio.NewReader(server).WriteTo(client)
	}
}

func TestAuthorityFromOptionOrEnvironment(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer server.Close()
	file := caFile(t, server)
	for name, o := range map[string]native.HostOptions{
		"option":      {CAFile: file, Getenv: env()},
		"environment": {Getenv: env("SSL_CERT_FILE", file)},
	} {
		got, err := status(t, newHost(t, o), server.URL)
		require.NoError(t, err, name)
		require.Equal(t, 204, got)
	}
	_, err := status(t, newHost(t, native.HostOptions{Getenv: env()}), server.URL)
	var e *transport.NetError
	require.ErrorAs(t, err, &e)
	require.Equal(t, transport.NetTLS, e.Kind)
}

func TestAuthorityHoldsForSocketsToo(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			_ = c.CloseNow()
		}
	}))
	defer server.Close()
	asked := &transport.SocketRequest{URL: "wss" + strings.TrimPrefix(server.URL, "https")}
	socket, err := newHost(t, native.HostOptions{CAFile: caFile(t, server), Getenv: env()}).Dial(t.Context(), asked)
	require.NoError(t, err)
	socket.Close()
	_, err = newHost(t, native.HostOptions{Getenv: env()}).Dial(t.Context(), asked)
	var e *transport.NetError
	require.ErrorAs(t, err, &e)
	require.Equal(t, transport.NetTLS, e.Kind)
}

func TestAuthorityThatCannotBeRead(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, file := range []string{empty, empty + ".missing"} {
		_, err := native.NewHost(native.HostOptions{CAFile: file})
		require.ErrorContains(t, err, file)
	}
}

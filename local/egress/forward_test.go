package egress

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
	"github.com/agent-sandbox/agent-sandbox/local/egress/wire"
)

// dialInside opens a connection as the relay does.
func (w *world) dialInside(host string, port uint16) *net.UnixConn {
	w.t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: filepath.Join(w.dir, "s")})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = c.Close() })
	require.NoError(w.t, c.SetDeadline(time.Now().Add(10*time.Second)))
	b, err := wire.Request{Kind: wire.Connect, Host: host, Port: port}.Append(nil)
	require.NoError(w.t, err)
	_, err = c.Write(b)
	require.NoError(w.t, err)
	return c
}

// forwarded is a connection to a server whose requests are looked at one by one.
func forwarded(t *testing.T, h http.HandlerFunc) (*world, *net.UnixConn) {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	w := newWorld(t)
	w.name("site.test", "9.9.9.9")
	w.route("9.9.9.9:80", server.Listener.Addr())
	w.open(Rules{AllowOut: []string{"site.test"}, DenyOut: []string{allTraffic}})
	c := w.dialInside("9.9.9.9", 80)
	status, err := wire.ReadStatus(c)
	require.NoError(t, err)
	require.Equal(t, wire.OK, status)
	return w, c
}

func TestForwarderPassesBodiesOfEveryKind(t *testing.T) {
	_, c := forwarded(t, func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		_, _ = fmt.Fprintf(rw, "%s %s %d %q", r.Method, r.RequestURI, len(body), r.Header["User-Agent"])
	})
	in := bufio.NewReader(c)
	big := strings.Repeat("x", 3<<20)
	for _, x := range []struct{ request, want string }{
		{"GET /a%2Fb?q=%20 HTTP/1.1\r\nHost: site.test\r\n\r\n", `GET /a%2Fb?q=%20 0 []`},
		{"POST /p HTTP/1.1\r\nHost: SITE.test:80\r\nUser-Agent: me\r\nContent-Length: 3\r\n\r\nabc", `POST /p 3 ["me"]`},
		{"PUT /c HTTP/1.1\r\nHost: site.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", `PUT /c 3 []`},
		{"POST /big HTTP/1.1\r\nHost: site.test\r\nContent-Length: 3145728\r\n\r\n" + big, `POST /big 3145728 []`},
		{"GET http://site.test/whole HTTP/1.1\r\nHost: site.test\r\n\r\n", `GET /whole 0 []`},
	} {
		go func() { _, _ = c.Write([]byte(x.request)) }()
		resp, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, x.want, string(got))
	}
	_, err := c.Write([]byte("HEAD / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n"))
	require.NoError(t, err)
	rest, err := io.ReadAll(in)
	require.NoError(t, err, "the end is an end")
	require.True(t, bytes.HasSuffix(rest, []byte("\r\n\r\n")), "HEAD has no body")
}

func TestForwarderPassesContinueAndPipelinedRequests(t *testing.T) {
	_, c := forwarded(t, func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = rw.Write(append([]byte(r.URL.Path), body...))
	})
	in := bufio.NewReader(c)
	_, err := c.Write([]byte("POST /x HTTP/1.1\r\nHost: site.test\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"))
	require.NoError(t, err)
	resp, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	require.Equal(t, 100, resp.StatusCode)
	_, err = c.Write([]byte("hi" + strings.Repeat("GET /y HTTP/1.1\r\nHost: site.test\r\n\r\n", 3)))
	require.NoError(t, err)
	for _, want := range []string{"/xhi", "/y", "/y", "/y"} {
		resp, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestForwarderPassesUpgrades(t *testing.T) {
	_, c := forwarded(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "raw" || r.Header.Get("Connection") != "Upgrade" {
			return
		}
		conn, in, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\nearly"))
		_, _ = io.Copy(conn, in)
		_ = conn.Close()
	})
	_, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: site.test\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n"))
	require.NoError(t, err)
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	require.Equal(t, 101, resp.StatusCode)
	_, err = c.Write([]byte("echo"))
	require.NoError(t, err)
	require.NoError(t, c.CloseWrite())
	got, err := io.ReadAll(in)
	require.NoError(t, err)
	require.Equal(t, "earlyecho", string(got))
}

func TestForwarderRefusesSmuggledRequests(t *testing.T) {
	for name, request := range map[string]string{
		"two lengths":         "POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 0\r\nContent-Length: 40\r\n\r\n",
		"length and chunked":  "POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: other.test\r\n\r\n",
		"upgrade not granted": "GET / HTTP/1.1\r\nHost: site.test\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\nGET / HTTP/1.1\r\nHost: other.test\r\n\r\n",
		"CONNECT":             "CONNECT site.test:80 HTTP/1.1\r\nHost: site.test:80\r\n\r\nGET / HTTP/1.1\r\nHost: other.test\r\n\r\n",
		"bare newline":        "GET / HTTP/1.1\r\nHost: site.test\r\nX: a\nHost: other.test\r\n\r\n",
	} {
		seen := make(chan string, 10)
		_, c := forwarded(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Host })
		_, err := c.Write([]byte(request))
		require.NoError(t, err)
		require.NoError(t, c.CloseWrite())
		_, _ = io.Copy(io.Discard, c)
		for len(seen) > 0 {
			require.Equal(t, "site.test", <-seen, name)
		}
	}
}

func TestForwarderBoundsHeads(t *testing.T) {
	line := []byte("X-Endless: " + strings.Repeat("a", 4<<10) + "\r\n")
	endless := func(c io.Writer) (sent int) {
		for sent < 8*maxHead {
			n, err := c.Write(line)
			if sent += n; err != nil {
				break
			}
		}
		return sent
	}
	t.Run("request", func(t *testing.T) {
		_, c := forwarded(t, func(http.ResponseWriter, *http.Request) {})
		_, err := c.Write([]byte("GET /first HTTP/1.1\r\nHost: site.test\r\n\r\nGET / HTTP/1.1\r\nHost: site.test\r\n"))
		require.NoError(t, err)
		// What lingers after the end is bounded too.
		require.Less(t, endless(c), maxHead+2*maxLinger)
	})
	t.Run("answer", func(t *testing.T) {
		sent := make(chan int, 1)
		_, c := forwarded(t, func(rw http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(rw).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\n"))
			sent <- endless(conn)
		})
		_, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: site.test\r\n\r\n"))
		require.NoError(t, err)
		got, _ := io.ReadAll(c)
		require.Empty(t, got)
		// The kernel's own buffers take some more.
		require.Less(t, <-sent, 8*maxHead)
	})
}

func TestRequestThatIsNoneIsDropped(t *testing.T) {
	w := newWorld(t)
	w.open(Rules{})
	for _, b := range []string{"", "\x09\x00\x50\x01a", "\x01\x00\x00\x01a", strings.Repeat("\xff", 300)} {
		c, err := net.Dial("unix", filepath.Join(w.dir, "s"))
		require.NoError(t, err)
		_, _ = c.Write([]byte(b))
		require.NoError(t, c.(splice.Conn).CloseWrite())
		got, _ := io.ReadAll(c)
		require.Empty(t, got)
		require.NoError(t, c.Close())
	}
}

func TestStatusTellsWhy(t *testing.T) {
	w := newWorld(t)
	w.open(Rules{})
	for host, want := range map[string]wire.Status{"10.0.0.8": wire.Refused, "none.test": wire.NoName, "9.9.9.9": wire.Unreachable, "127.1": wire.Refused, "::1": wire.Refused} {
		status, err := wire.ReadStatus(w.dialInside(host, 443))
		require.NoError(t, err)
		require.Equal(t, want, status, host)
	}
}

func TestConnectionsOfOneSandboxAreBounded(t *testing.T) {
	w := newWorld(t)
	w.open(Rules{})
	var open []net.Conn
	for range maxConnections + 1 {
		c, err := net.Dial("unix", filepath.Join(w.dir, "s"))
		require.NoError(t, err)
		open = append(open, c)
	}
	last := open[maxConnections]
	require.NoError(t, last.SetReadDeadline(time.Now().Add(2*time.Second)))
	_, err := last.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "one too many is closed at once")
	for _, c := range open {
		_ = c.Close()
	}
}

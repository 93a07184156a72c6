package egress

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/egress/inside"
	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
)

// serve runs a loopback server until the test ends.
func serve(t *testing.T, handle func(net.Conn)) net.Addr {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	var open splice.Set
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(c, func() { handle(c) })
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done; open.Close() })
	return l.Addr()
}

func TestProgramsWithoutNATUseTheProxy(t *testing.T) {
	needsNamespaces(t, "curl", "python3")
	w := newWorld(t)
	w.mode = inside.ModeProxy
	plain, secure := echo(t, "hello")
	w.name("site.test", "9.9.9.9")
	w.name("intra.test", "10.0.0.8")
	w.route("9.9.9.9:80", plain.Listener.Addr())
	w.route("9.9.9.9:443", secure.Listener.Addr())
	w.route("10.0.0.8:80", plain.Listener.Addr())
	w.route("10.0.0.8:443", secure.Listener.Addr())
	w.open(Rules{})
	out := w.run(curl + "http://site.test/ http://site.test/; " + curl + "https://site.test/; " +
		curl + "--proxy socks5h://127.0.0.1:61001 https://site.test/; " + curl + "--proxy socks5://127.0.0.1:61001 https://site.test/; " +
		"echo; " + curl + "http://intra.test/; " + curl + "https://intra.test/ ; curl -sS --noproxy '*' --max-time 5 http://9.9.9.9/; echo; echo $MODE; " +
		`python3 -c 'import urllib.request; print(urllib.request.urlopen("http://site.test/").read())'`)
	lines := strings.SplitN(out, "\n", 2)
	require.Equal(t, strings.Repeat("hello site.test [200 ]", 5), lines[0])
	require.Contains(t, lines[1], "[403 ]")
	require.Contains(t, lines[1], "response 403", "CONNECT is refused with the reason")
	require.Contains(t, lines[1], "Couldn't connect")
	require.Contains(t, lines[1], "\nproxy\nb'hello site.test '\n")
	require.NotContains(t, out, "intra.test [200")
}

func TestConnectionsGoThroughTheHostsProxy(t *testing.T) {
	needsNamespaces(t, "curl")
	plain, secure := echo(t, "hello")
	asked := make(chan string, 20)
	proxy := serve(t, func(c net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		asked <- req.Method + " " + req.RequestURI + " " + req.Header.Get("Proxy-Authorization")
		if req.Method != http.MethodConnect {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nproxied " + req.Host))
			return
		}
		to := plain.Listener.Addr().String()
		if strings.HasSuffix(req.Host, ":443") {
			to = secure.Listener.Addr().String()
		}
		out, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		splice.Join(c.(splice.Conn), out.(splice.Conn))
	})
	w := newWorld(t)
	w.host.proxy = upstreamOf([]string{"HTTPS_PROXY=http://me:hunter2@" + proxy.String(), "http_proxy=http://" + proxy.String(), "NO_PROXY=near.test,10.0.0.0/8"})
	require.True(t, w.host.Proxied())
	w.name("near.test", "9.9.9.9")
	w.route("9.9.9.9:80", plain.Listener.Addr())
	w.open(Rules{})
	out := w.run(curl + "https://far.test/; " + curl + "http://far.test/x; " + curl + "http://near.test/; " +
		curl + "https://8.8.8.8/; " + curl + "-H 'Host: far.test:8080' http://8.8.8.8/")
	require.Equal(t, "hello far.test [200 ]proxied far.test[200 ]hello near.test [200 ]hello 8.8.8.8 [200 ]proxied far.test[200 ]", out)
	secret := base64.StdEncoding.EncodeToString([]byte("me:hunter2"))
	var all []string
	for len(asked) > 0 {
		all = append(all, <-asked)
	}
	require.Equal(t, []string{"CONNECT far.test:443 Basic " + secret, "GET http://far.test/x ", "CONNECT 8.8.8.8:443 Basic " + secret, "GET http://far.test/ "}, all)

	refused := w.run("for u in http://localhost/ http://x.localhost/ http://metadata.google.internal/ http://10.0.0.8/ http://169.254.169.254/; do curl -sSf --max-time 5 $u && echo REACHED; done; " +
		"for h in localhost 169.254.169.254 10.0.0.8 127.1 metadata.google.internal; do curl -sSf --max-time 5 -H \"Host: $h\" http://far.test/ && echo REACHED; done; true")
	require.NotContains(t, refused, "REACHED")
	require.NoError(t, w.policy.Update(Rules{AllowOut: []string{"far.test"}, DenyOut: []string{"0.0.0.0/0"}}))
	out = w.run("curl -sk https://far.test/; curl -sk https://other.test/; curl -skf --connect-to other.test:443:far.test:443 https://other.test/; true")
	require.Equal(t, "hello far.test ", out)
}

func TestConnectionsGoThroughTheEgressProxy(t *testing.T) {
	needsNamespaces(t, "curl")
	plain, _ := echo(t, "hello")
	asked := make(chan string, 20)
	proxy := serve(t, func(c net.Conn) { playSocks(c, "user", "hunter2", plain.Listener.Addr().String(), asked) })
	w := newWorld(t)
	w.name("site.test", "9.9.9.9")
	w.open(Rules{EgressProxy: &Proxy{Address: proxy.String(), Username: "user", Password: "hunter2"}})
	out := w.run(curl + "http://site.test/; curl -sS --max-time 5 http://10.0.0.8/ || true")
	require.Contains(t, out, "hello site.test [200 ]")
	require.Equal(t, "9.9.9.9:80", <-asked, "the proxy gets the address that the rules saw")
	require.Empty(t, asked)
	require.NoError(t, w.policy.Update(Rules{EgressProxy: &Proxy{Address: proxy.String(), Username: "user", Password: "hunter3"}}))
	require.NotContains(t, w.run("curl -sS --max-time 5 http://site.test/; true"), "hello")
}

// playSocks is a SOCKS5 server with one user, whose every connection ends at to.
func playSocks(c net.Conn, user, password, to string, asked chan<- string) {
	b := make([]byte, 300)
	if _, err := io.ReadFull(c, b[:3]); err != nil || b[2] != 2 {
		return
	}
	_, _ = c.Write([]byte{5, 2})
	login := append(append([]byte{1, byte(len(user))}, user...), append([]byte{byte(len(password))}, password...)...)
	if _, err := io.ReadFull(c, b[:len(login)]); err != nil || string(b[:len(login)]) != string(login) {
		_, _ = c.Write([]byte{1, 1})
		return
	}
	_, _ = c.Write([]byte{1, 0})
	if _, err := io.ReadFull(c, b[:10]); err != nil || b[3] != 1 {
		return
	}
	a := net.TCPAddr{IP: net.IP(b[4:8]), Port: int(b[8])<<8 | int(b[9])}
	asked <- a.String()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	splice.Join(c.(splice.Conn), out.(splice.Conn))
}

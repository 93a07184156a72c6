package inside

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
	"github.com/agent-sandbox/agent-sandbox/local/egress/wire"
)

const (
	// headClock bounds the wait for a proxy request's head.
	headClock = 30 * time.Second
	// maxHead is the longest head of a proxy request in bytes.
	maxHead = 64 << 10
)

// proxyEnv names the relay to programs. ALL_PROXY is an HTTP proxy too: many
// programs refuse to start when it names SOCKS and their SOCKS support is missing.
func proxyEnv(port uint16) []string {
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	const direct = "localhost,127.0.0.1,::1"
	return []string{
		"HTTP_PROXY=" + url, "http_proxy=" + url,
		"HTTPS_PROXY=" + url, "https_proxy=" + url,
		"ALL_PROXY=" + url, "all_proxy=" + url,
		"NO_PROXY=" + direct, "no_proxy=" + direct,
	}
}

// acceptProxy speaks HTTP (CONNECT and whole URLs) and SOCKS5, told apart by the
// first byte.
func (r *Relay) acceptProxy(c *net.TCPConn) {
	_ = c.SetDeadline(time.Now().Add(headClock))
	in := bufio.NewReader(&headReader{c, maxHead})
	first, err := in.Peek(1)
	if err != nil {
		return
	}
	if first[0] == socksVersion {
		r.acceptSocks(c, in)
		return
	}
	r.acceptHTTP(c, in)
}

// headReader bounds what is read before the relay starts.
type headReader struct {
	c    *net.TCPConn
	left int
}

func (h *headReader) Read(b []byte) (int, error) {
	if h.left <= 0 {
		return 0, wire.ErrMalformed
	}
	n, err := h.c.Read(b[:min(len(b), h.left)])
	h.left -= n
	return n, err
}

func (r *Relay) acceptHTTP(c *net.TCPConn, in *bufio.Reader) {
	req, err := http.ReadRequest(in)
	if err != nil {
		answerHTTP(c, http.StatusBadRequest)
		return
	}
	if req.Method == http.MethodConnect {
		r.tunnel(c, in, req)
		return
	}
	r.forward(c, req)
}

func (r *Relay) tunnel(c *net.TCPConn, in *bufio.Reader, req *http.Request) {
	q, ok := target(req.Host, 443)
	if !ok {
		answerHTTP(c, http.StatusBadRequest)
		return
	}
	early, _ := in.Peek(in.Buffered())
	r.relayProxied(c, q, early, func(s wire.Status) {
		if s != wire.OK {
			answerHTTP(c, statusOf(s))
			return
		}
		_, _ = c.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n"))
	})
}

// forward sends one request with a whole URL, and lets the server close: the
// next request may be for another host.
func (r *Relay) forward(c *net.TCPConn, req *http.Request) {
	q, ok := target(req.URL.Host, 80)
	if !ok || req.URL.Scheme != "http" {
		answerHTTP(c, http.StatusBadRequest)
		return
	}
	host, status, err := r.ask(q)
	if err != nil || status != wire.OK {
		answerHTTP(c, statusOf(status))
		if host != nil {
			_ = host.Close()
		}
		return
	}
	prepare(req)
	_ = c.SetDeadline(time.Time{})
	sent := make(chan struct{})
	go func() { defer close(sent); _ = req.Write(host) }()
	_, _ = io.Copy(c, host)
	_ = host.Close()
	_ = c.Close()
	<-sent
}

func prepare(req *http.Request) {
	req.Close = true
	for _, name := range []string{"Proxy-Connection", "Proxy-Authorization", "Connection", "Keep-Alive"} {
		req.Header.Del(name)
	}
	if _, named := req.Header["User-Agent"]; !named {
		req.Header["User-Agent"] = []string{""}
	}
}

// relayProxied is relay for a program that knows it talks to a proxy: early is
// what it sent ahead of the answer.
func (r *Relay) relayProxied(c *net.TCPConn, q wire.Request, early []byte, answer func(wire.Status)) {
	host, status, err := r.ask(q)
	if err != nil {
		answer(wire.Unreachable)
		return
	}
	answer(status)
	if _, err := host.Write(early); err != nil || status != wire.OK {
		_ = host.Close()
		return
	}
	_ = c.SetDeadline(time.Time{})
	splice.Join(c, host)
}

func target(hostport string, port uint16) (wire.Request, bool) {
	q := wire.Request{Kind: wire.Connect, Host: hostport, Port: port}
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return q, false
		}
		q.Host, q.Port = h, uint16(n)
	}
	if a, err := netip.ParseAddr(trimBrackets(q.Host)); err == nil {
		q.Host = a.String()
	}
	return q, q.Host != "" && q.Port != 0 && len(q.Host) <= wire.MaxHost
}

func trimBrackets(h string) string {
	if len(h) > 1 && h[0] == '[' && h[len(h)-1] == ']' {
		return h[1 : len(h)-1]
	}
	return h
}

func statusOf(s wire.Status) int {
	switch s {
	case wire.Refused:
		return http.StatusForbidden
	case wire.TimedOut:
		return http.StatusGatewayTimeout
	default:
		return http.StatusBadGateway
	}
}

func answerHTTP(c *net.TCPConn, status int) {
	text := http.StatusText(status) + ": answered by the sandbox's network\n"
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(text), text)
}

package egress

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
)

// forwarder passes plain HTTP requests one by one, because each may name another
// host: one allowed Host must not open a connection for the next.
type forwarder struct {
	link   *link
	target target
	plan   plan // of the address dialled; used where the name does not matter
	client *bufio.Reader
	asks   *headReader // below client

	server  *bufio.Reader
	answers *headReader // below server
	out     splice.Conn
	host    string   // whom out is connected to; "" is the address dialled
	proxy   *url.URL // out leads to this proxy of the host's, which takes whole URLs
}

// rewrites tells whether plain HTTP has to be looked at though its address is
// allowed: to set headers, or because the host's proxy takes whole URLs.
func (p *Policy) rewrites(s *ruleset, plan plan, port uint16) bool {
	return port == 80 && (len(s.rules.Transform) > 0 || p.whole(s, plan) != nil)
}

// whole gives the host's proxy when it is to get whole URLs for a plan.
func (p *Policy) whole(s *ruleset, plan plan) *url.URL {
	switch {
	case s.rules.EgressProxy != nil || plan.direct:
		return nil
	case plan.name != "":
		return p.host.proxy.wholeURL(plan.name)
	case len(plan.addrs) > 0:
		return p.host.proxy.wholeURL(plan.addrs[0].String())
	}
	return nil
}

func newForwarder(l *link, t target, p plan, first opening) *forwarder {
	asks := &headReader{from: io.MultiReader(bytes.NewReader(first.bytes), l.inside)}
	return &forwarder{link: l, target: t, plan: p, asks: asks, client: bufio.NewReaderSize(asks, maxPeek)}
}

const (
	// lateClock bounds the wait for the rest of a request that was answered early.
	lateClock = time.Second
	// lingerClock and maxLinger bound what a client may still send after the end.
	lingerClock = 5 * time.Second
	maxLinger   = 1 << 20
)

func (f *forwarder) run() {
	defer f.finish()
	for goOn := true; goOn; {
		_ = f.link.inside.SetReadDeadline(time.Now().Add(splice.Idle))
		f.asks.begin()
		req, err := http.ReadRequest(f.client)
		if err != nil {
			return
		}
		f.asks.end()
		goOn = f.pass(req)
	}
}

// finish ends the client's connection by an end, not by a reset, which could cost
// it the tail of the answer.
func (f *forwarder) finish() {
	_ = f.link.inside.CloseWrite()
	_ = f.link.inside.SetReadDeadline(time.Now().Add(lingerClock))
	_, _ = io.CopyN(io.Discard, f.link.inside, maxLinger)
}

// pass forwards one request and its answer; false ends the connection.
func (f *forwarder) pass(req *http.Request) bool {
	host := hostOf(req.Host)
	if err := f.connect(req, host); err != nil {
		f.link.refused(f.target, host, err)
		f.deny(err)
		return false
	}
	closing := req.Close
	f.prepare(req, host)
	_ = f.out.SetReadDeadline(time.Now().Add(splice.Idle))
	sent := make(chan error, 1)
	go func() { sent <- f.send(req) }()
	goOn := f.answer(req) && !closing
	select {
	case err := <-sent:
		return goOn && err == nil
	case <-time.After(lateClock):
	}
	// The server does not read the rest; nobody does any more.
	_ = f.out.Close()
	_ = f.link.inside.SetReadDeadline(time.Now())
	err := <-sent
	f.link.policy.host.log.Debug("egress request answered early", slog.Any("why", err))
	return false
}

// connect makes sure that out leads to where this request may go.
func (f *forwarder) connect(req *http.Request, host string) error {
	if req.Method == http.MethodConnect {
		return errRefused
	}
	p, s := f.plan, f.link.policy.ruleset()
	key := ""
	whole := f.target.port == 80 && f.link.policy.whole(s, p) != nil
	if whole || p.verdict == needName || len(s.headers(host)) > 0 {
		// Headers may be secret, so they go only to an address of that name; and a
		// proxy goes by the name alone.
		if key = host; key == "" {
			return errRefused
		}
		var err error
		if p, err = f.link.policy.byName(f.link.policy.ctx, s, host, f.target.port); err != nil {
			return err
		}
	}
	if f.out != nil && f.host == key {
		return nil
	}
	return f.dial(s, p, key)
}

func (f *forwarder) dial(s *ruleset, p plan, key string) (err error) {
	if f.target.port == 80 {
		f.proxy = f.link.policy.whole(s, p)
	}
	if f.proxy != nil {
		f.out, err = f.link.dialProxy(f.proxy, key, f.target.port)
	} else {
		f.out, err = f.link.dial(p, f.target.port, key)
	}
	if err != nil {
		return err
	}
	f.answers = &headReader{from: f.out}
	f.server, f.host = bufio.NewReader(f.answers), key
	return nil
}

func (f *forwarder) prepare(req *http.Request, host string) {
	for name, value := range f.link.policy.ruleset().headers(host) {
		if f.host == host {
			req.Header[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	if _, named := req.Header["User-Agent"]; !named {
		req.Header["User-Agent"] = []string{""} // keeps the library from adding its own
	}
	for name := range req.Header {
		if strings.HasPrefix(name, "Proxy-") {
			delete(req.Header, name)
		}
	}
	if f.proxy == nil {
		return
	}
	// The proxy goes by this host: it must be the one that was checked, without a port.
	req.URL.Scheme, req.Host = "http", host
	if strings.Contains(host, ":") {
		req.Host = "[" + host + "]"
	}
	if secret := authorization(f.proxy); secret != "" {
		req.Header.Set("Proxy-Authorization", secret)
	}
}

func (f *forwarder) send(req *http.Request) error {
	if f.proxy != nil {
		return req.WriteProxy(f.out)
	}
	return req.Write(f.out)
}

// answer passes the server's answer, with what comes before the final one.
func (f *forwarder) answer(req *http.Request) bool {
	for {
		f.answers.begin()
		resp, err := http.ReadResponse(f.server, req)
		if err != nil {
			return false
		}
		f.answers.end()
		switch {
		case resp.StatusCode == http.StatusSwitchingProtocols:
			f.upgrade(resp)
			return false
		case resp.StatusCode >= 200:
			err := resp.Write(f.link.inside)
			_ = resp.Body.Close()
			return err == nil && !resp.Close
		}
		if writeHead(f.link.inside, resp) != nil {
			return false
		}
	}
}

// upgrade turns the connection into raw bytes.
func (f *forwarder) upgrade(resp *http.Response) {
	if writeHead(f.link.inside, resp) != nil {
		return
	}
	early, _ := f.server.Peek(f.server.Buffered())
	if _, err := f.link.inside.Write(early); err != nil {
		return
	}
	early, _ = f.client.Peek(f.client.Buffered())
	if _, err := f.out.Write(early); err != nil {
		return
	}
	splice.Join(f.link.inside, f.out)
}

func writeHead(to net.Conn, resp *http.Response) error {
	head := &bytes.Buffer{}
	_, _ = fmt.Fprintf(head, "HTTP/1.1 %s\r\n", resp.Status)
	_ = resp.Header.Write(head)
	head.WriteString("\r\n")
	_, err := to.Write(head.Bytes())
	return err
}

// deny tells an HTTP client why, which a reset would not.
func (f *forwarder) deny(err error) {
	status := http.StatusForbidden
	if statusOf(err) != statusOf(errRefused) {
		status = http.StatusBadGateway
	}
	text := fmt.Sprintf("%s: the sandbox's network rules or its host did not allow this connection\n", http.StatusText(status))
	_, _ = fmt.Fprintf(f.link.inside, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(text), text)
}

package transporttest

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// peer is a server that says exactly what its handler says.
type peer struct {
	url   string
	conns atomic.Int32

	listener net.Listener
	handle   func(*conn)
	mu       sync.Mutex
	open     map[net.Conn]bool
	done     sync.WaitGroup
}

// conn is one connection of a client.
type conn struct {
	net.Conn
	r *bufio.Reader
}

func (s *suite) peer(handle func(*conn)) *peer { return s.listen("http", nil, handle) }

func (s *suite) tlsPeer(c *tls.Config, handle func(*conn)) *peer { return s.listen("https", c, handle) }

func (s *suite) listen(scheme string, c *tls.Config, handle func(*conn)) *peer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	p := &peer{url: scheme + "://" + l.Addr().String(), listener: l, handle: handle, open: map[net.Conn]bool{}}
	if c != nil {
		p.listener = tls.NewListener(l, c)
	}
	p.done.Go(p.accept)
	s.Cleanup(p.close)
	return p
}

func (p *peer) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.conns.Add(1)
		p.mu.Lock()
		p.open[c] = true
		p.mu.Unlock()
		p.done.Go(func() {
			defer c.Close()
			p.handle(&conn{c, bufio.NewReader(c)})
		})
	}
}

func (p *peer) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.done.Wait()
}

// request reads the next request; nil when the client is gone.
func (c *conn) request() *http.Request {
	r, err := http.ReadRequest(c.r)
	if err != nil {
		return nil
	}
	return r
}

// body reads a whole request body.
func (c *conn) body(r *http.Request) string {
	b, _ := io.ReadAll(r.Body)
	return string(b)
}

// skip reads a request with its body.
func (c *conn) skip() bool {
	r := c.request()
	if r == nil {
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body)
	return true
}

func (c *conn) send(s string) { _, _ = io.WriteString(c, s) }

// gone returns when the client has hung up.
func (c *conn) gone() { _, _ = io.Copy(io.Discard, c.r) }

// reset ends the connection with RST.
func (c *conn) reset() {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// always answers every request on every connection with the same bytes.
func always(response string) func(*conn) {
	return func(c *conn) {
		for c.skip() {
			c.send(response)
		}
	}
}

// Some answers.
const (
	chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
	hello       = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
)

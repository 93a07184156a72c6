package native

import (
	"crypto/tls"
	"io"
	"net"
	"sync/atomic"
)

// watchedConn remembers that the peer ended the connection. net/http often tells
// that only in words: a head or a trailer that ends early is "malformed" to it.
type watchedConn struct {
	net.Conn
	ended atomic.Bool
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.ended.Store(true)
	}
	return n, err
}

// ReadFrom keeps the system's own way from a file to a socket.
func (c *watchedConn) ReadFrom(r io.Reader) (int64, error) {
	if f, ok := c.Conn.(io.ReaderFrom); ok {
		return f.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// watched finds the connection below TLS.
func watched(c net.Conn) *watchedConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	w, _ := c.(*watchedConn)
	return w
}

// cut tells whether the connection of an exchange is known to have ended.
func (c *watchedConn) cut() bool { return c != nil && c.ended.Load() }

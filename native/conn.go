package native

import (
	"crypto/tls"
	"io"
	"net"
	"os"
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

// uploadBuffer is how much of a request body goes to the socket at once.
const uploadBuffer = 256 << 10

// ReadFrom sends a body. A file goes the system's own way from file to socket,
// anything else in larger pieces than net/http's.
func (c *watchedConn) ReadFrom(r io.Reader) (int64, error) {
	tcp, ok := c.Conn.(*net.TCPConn)
	body, file := fileBody(r)
	if !ok || file == nil {
		return io.CopyBuffer(struct{ io.Writer }{c.Conn}, struct{ io.Reader }{r}, make([]byte, bufferFor(r)))
	}
	n, err := tcp.ReadFrom(file)
	body.N -= n
	return n, err
}

func bufferFor(r io.Reader) int64 {
	if l, ok := r.(*io.LimitedReader); ok {
		return max(1, min(l.N, uploadBuffer))
	}
	return uploadBuffer
}

// fileBody finds the file below what net/http makes of an upload of known size.
func fileBody(r io.Reader) (body, file *io.LimitedReader) {
	body, ok := r.(*io.LimitedReader)
	if !ok {
		return nil, nil
	}
	u, ok := body.R.(*upload)
	if !ok {
		return nil, nil
	}
	data, ok := u.r.(*io.LimitedReader)
	if !ok || data.N != body.N {
		return nil, nil
	}
	if _, ok := data.R.(*os.File); !ok {
		return nil, nil
	}
	return body, data
}

// link is what an exchange knows of its connection.
type link struct {
	conn  *watchedConn
	http2 bool
}

func linkOf(c net.Conn) *link {
	l := &link{}
	if t, ok := c.(*tls.Conn); ok {
		l.http2 = t.ConnectionState().NegotiatedProtocol == "h2"
		c = t.NetConn()
	}
	l.conn, _ = c.(*watchedConn)
	return l
}

// lost tells whether an error that says nothing of it means the end of the
// connection. On HTTP/2 every error that is not of one stream does.
func (l *link) lost() bool {
	return l != nil && (l.http2 || l.conn != nil && l.conn.ended.Load())
}

package gateway

import (
	"io"
	"net"
)

// wide is a connection that takes uploads in large pieces: the transport copies
// a request's body into what can read for itself.
type wide struct {
	net.Conn
	large *buffers
}

// ReadFrom implements io.ReaderFrom.
func (c wide) ReadFrom(r io.Reader) (int64, error) {
	buf := c.large.get()
	defer c.large.put(buf)
	// Hidden from io.CopyBuffer, which would come back here.
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, struct{ io.Reader }{r}, buf)
}

//go:build linux

package guest

import (
	"net"
	"os"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// handedBacklog is how many connections may wait to be accepted.
const handedBacklog = 128

// handedListener is a listener whose connections are handed over ready made:
// no socket in any file system, and no network between host and sandbox.
type handedListener struct {
	conns chan net.Conn
}

func newHandedListener() *handedListener {
	return &handedListener{conns: make(chan net.Conn, handedBacklog)}
}

// hand takes one connected socket.
func (l *handedListener) hand(f *os.File) {
	if c, err := boot.Conn(f); err == nil {
		l.conns <- c
	}
}

// Accept waits for the next connection. It never fails: the listener ends
// with the process.
func (l *handedListener) Accept() (net.Conn, error) { return <-l.conns, nil }

// Close does nothing: the listener ends with the process.
func (l *handedListener) Close() error { return nil }

// Addr names the listener.
func (l *handedListener) Addr() net.Addr {
	return &net.UnixAddr{Net: "unix", Name: "@handed"}
}

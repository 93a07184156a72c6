//go:build linux

package guest

import (
	"net"
	"os"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// portDialTimeout bounds a connection to a port inside; loopback answers at
// once unless the listener's queue is full.
const portDialTimeout = 10 * time.Second

// answerPort connects to a port inside and gives the connected socket to the
// host side, or says that nothing listens there.
func answerPort(f *os.File, port int) {
	answer, err := boot.Conn(f)
	if err != nil {
		return
	}
	defer answer.Close()
	conn, err := dialLoopback(port)
	if err != nil {
		_ = boot.Send(answer, boot.Message{Op: boot.OpRefused, Port: port, Error: err.Error()})
		return
	}
	defer conn.Close()
	socket, err := conn.File()
	if err != nil {
		_ = boot.Send(answer, boot.Message{Op: boot.OpRefused, Port: port, Error: err.Error()})
		return
	}
	defer socket.Close()
	_ = boot.Send(answer, boot.Message{Op: boot.OpConn, Port: port}, socket)
}

func dialLoopback(port int) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: portDialTimeout}
	var first error
	for _, host := range []string{"127.0.0.1", "::1"} {
		c, err := d.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			return c.(*net.TCPConn), nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

//go:build linux

package guest

import (
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// portDialTimeout bounds a connection to a port inside; loopback answers at
// once unless the listener's queue is full.
const portDialTimeout = 10 * time.Second

// answerPort connects to a port inside and gives the connected socket to the
// host side, or says that nothing listens there.
func (p *process1) answerPort(f *os.File, port int) {
	answer, err := boot.Conn(f)
	if err != nil {
		return
	}
	defer answer.Close()
	socket, err := p.connect(port)
	if err != nil {
		_ = boot.Send(answer, boot.Message{Op: boot.OpRefused, Port: port, Error: err.Error()})
		return
	}
	defer socket.Close()
	_ = boot.Send(answer, boot.Message{Op: boot.OpConn, Port: port}, socket)
}

// connect connects to whatever listens on a port inside, else to the service
// that process 1 has for it.
func (p *process1) connect(port int) (*os.File, error) {
	conn, err := dialLoopback(port)
	if err != nil {
		if own := p.ports.listener(port); own != nil {
			return own.connect()
		}
		return nil, err
	}
	defer conn.Close()
	return conn.File()
}

// Ports is a service that answers on ports other than its own, too, where
// nothing inside listens on them.
type Ports interface {
	// Port gives the handler of a port, nil = none. It is called once a port, at
	// the first connection.
	Port(port int) http.Handler
}

// ports serve what a service has for other ports. The zero value has none.
type ports struct {
	service Ports
	mu      sync.Mutex
	open    map[int]*handedListener
}

// listener takes connections to the port, nil = nobody serves it.
func (p *ports) listener(port int) *handedListener {
	if p.service == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l, known := p.open[port]
	if known {
		return l
	}
	h := p.service.Port(port)
	if h == nil {
		return nil
	}
	l = serveHanded(h)
	if p.open == nil {
		p.open = map[int]*handedListener{}
	}
	p.open[port] = l
	return l
}

// connect makes a connection to the listener and gives its other end.
func (l *handedListener) connect() (*os.File, error) {
	ours, theirs, err := boot.StreamPair()
	if err != nil {
		return nil, err
	}
	l.conns <- ours
	return theirs, nil
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

package jupyter

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
)

// Endpoint is where one socket of a kernel is.
type Endpoint struct {
	name, network, address string
	publishes              bool
}

// Endpoints are the sockets of one kernel. Make them with Sockets or Ports.
type Endpoints struct {
	transport, ip string
	ports         [5]int
}

// Indexes of Endpoints.ports.
const (
	portShell = iota
	portIOPub
	portStdin
	portControl
	portHeartbeat
)

// Sockets are unix sockets whose paths begin with prefix. A path may have 107
// bytes, of which this takes 2.
func Sockets(prefix string) *Endpoints {
	return &Endpoints{transport: "ipc", ip: prefix, ports: [5]int{1, 2, 3, 4, 5}}
}

// Ports are free ports of the loopback interface, for kernels that know
// nothing else. They are free when they are chosen, and may be taken by
// another process before the kernel binds them: start it again then.
func Ports() (*Endpoints, error) {
	e := &Endpoints{transport: "tcp", ip: "127.0.0.1"}
	for i := range e.ports {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		// All stay open until all are chosen, or one would be chosen twice.
		defer l.Close()
		e.ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return e, nil
}

// Shell takes requests to run code.
func (e *Endpoints) Shell() Endpoint { return e.at("shell", portShell) }

// Control takes requests while the shell is busy.
func (e *Endpoints) Control() Endpoint { return e.at("control", portControl) }

// IOPub publishes output and the kernel's state.
func (e *Endpoints) IOPub() Endpoint {
	at := e.at("iopub", portIOPub)
	at.publishes = true
	return at
}

func (e *Endpoints) at(name string, port int) Endpoint {
	if e.transport == "ipc" {
		return Endpoint{name: name, network: "unix", address: fmt.Sprintf("%s-%d", e.ip, e.ports[port])}
	}
	return Endpoint{name: name, network: "tcp", address: net.JoinHostPort(e.ip, strconv.Itoa(e.ports[port]))}
}

// ConnectionFile is what a kernel is told: where to bind, and the key of the
// session. It is as secret as the kernel.
func (s *Session) ConnectionFile(e *Endpoints, kernel string) ([]byte, error) {
	return json.MarshalIndent(struct {
		Transport string `json:"transport"`
		IP        string `json:"ip"`
		Shell     int    `json:"shell_port"`
		IOPub     int    `json:"iopub_port"`
		Stdin     int    `json:"stdin_port"`
		Control   int    `json:"control_port"`
		Heartbeat int    `json:"hb_port"`
		Key       string `json:"key"`
		Scheme    string `json:"signature_scheme"`
		Kernel    string `json:"kernel_name"`
	}{
		e.transport, e.ip, e.ports[portShell], e.ports[portIOPub], e.ports[portStdin], e.ports[portControl],
		e.ports[portHeartbeat], s.key, "hmac-sha256", kernel,
	}, "", "  ")
}

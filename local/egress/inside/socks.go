package inside

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/netip"

	"github.com/agent-sandbox/agent-sandbox/local/egress/wire"
)

// Numbers of RFC 1928.
const (
	socksVersion    = 5
	socksConnect    = 1
	socksIPv4       = 1
	socksName       = 3
	socksIPv6       = 4
	socksNoMethod   = 0xff
	socksBadCommand = 7
)

// acceptSocks speaks SOCKS5 without authentication, CONNECT only.
func (r *Relay) acceptSocks(c *net.TCPConn, in *bufio.Reader) {
	if !greet(c, in) {
		return
	}
	q, command, err := readSocks(in)
	if err != nil || command != socksConnect {
		answerSocks(c, socksBadCommand)
		return
	}
	early, _ := in.Peek(in.Buffered())
	r.relayProxied(c, q, early, func(s wire.Status) { answerSocks(c, socksCode(s)) })
}

func greet(c *net.TCPConn, in io.Reader) bool {
	var head [2]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return false
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(in, methods); err != nil {
		return false
	}
	for _, m := range methods {
		if m == 0 {
			_, err := c.Write([]byte{socksVersion, 0})
			return err == nil
		}
	}
	_, _ = c.Write([]byte{socksVersion, socksNoMethod})
	return false
}

// readSocks reads one request; an address of an unknown kind is ErrMalformed.
func readSocks(in io.Reader) (q wire.Request, command byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return q, 0, err
	}
	size, ok := map[byte]int{socksIPv4: 3, socksIPv6: 15, socksName: int(head[4])}[head[3]]
	if !ok || head[0] != socksVersion {
		return q, 0, wire.ErrMalformed
	}
	rest := make([]byte, size+2)
	if _, err := io.ReadFull(in, rest); err != nil {
		return q, 0, err
	}
	host := rest[:size]
	q = wire.Request{Kind: wire.Connect, Host: string(host), Port: binary.BigEndian.Uint16(rest[size:])}
	if head[3] != socksName {
		a, _ := netip.AddrFromSlice(append([]byte{head[4]}, host...))
		q.Host = a.String()
	}
	if q.Host == "" || q.Port == 0 || len(q.Host) > wire.MaxHost {
		return q, 0, wire.ErrMalformed
	}
	return q, head[1], nil
}

func socksCode(s wire.Status) byte {
	switch s {
	case wire.OK:
		return 0
	case wire.Refused:
		return 2
	case wire.TimedOut:
		return 6
	default:
		return 4
	}
}

func answerSocks(c *net.TCPConn, code byte) {
	_, _ = c.Write([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
}

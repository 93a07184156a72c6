package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
)

// errProxy is returned when a proxy does not do what it is asked; it carries
// neither the proxy's address nor credentials.
var errProxy = errors.New("the proxy refused the connection")

// dialSocks connects to hostport through a SOCKS5 server (RFC 1928, RFC 1929).
func (h *Host) dialSocks(ctx context.Context, proxy *Proxy, hostport string) (splice.Conn, error) {
	d := net.Dialer{KeepAlive: keepAlive}
	c, err := stream(d.DialContext(ctx, "tcp", proxy.Address))
	if err != nil {
		return nil, fmt.Errorf("reach egress proxy: %w", err)
	}
	done := within(ctx, c)
	defer done()
	if err := socksHandshake(c, proxy, hostport); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func socksHandshake(c io.ReadWriter, proxy *Proxy, hostport string) error {
	method := byte(0)
	if proxy.Username != "" {
		method = 2
	}
	chosen, err := socksAsk(c, []byte{5, 1, method}, 2)
	if err != nil || chosen[0] != 5 || chosen[1] != method {
		return errors.Join(errProxy, err)
	}
	if method == 2 {
		login := append([]byte{1, byte(len(proxy.Username))}, proxy.Username...)
		login = append(append(login, byte(len(proxy.Password))), proxy.Password...)
		if answer, err := socksAsk(c, login, 2); err != nil || answer[1] != 0 {
			return errors.Join(errProxy, err)
		}
	}
	return socksConnect(c, hostport)
}

func socksConnect(c io.ReadWriter, hostport string) error {
	request, err := socksRequest(hostport)
	if err != nil {
		return err
	}
	head, err := socksAsk(c, request, 5)
	if err != nil || head[0] != 5 || head[1] != 0 {
		return errors.Join(errProxy, err)
	}
	rest, ok := map[byte]int{1: 3, 3: int(head[4]), 4: 15}[head[3]]
	if !ok {
		return errProxy
	}
	_, err = io.ReadFull(c, make([]byte, rest+2))
	return err
}

func socksRequest(hostport string) ([]byte, error) {
	host, p, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return nil, err
	}
	b := []byte{5, 1, 0}
	if a, err := netip.ParseAddr(host); err == nil {
		kind := byte(4)
		if a.Is4() {
			kind = 1
		}
		b = append(append(b, kind), a.AsSlice()...)
	} else {
		b = append(append(b, 3, byte(len(host))), host...)
	}
	return binary.BigEndian.AppendUint16(b, uint16(port)), nil
}

func socksAsk(c io.ReadWriter, question []byte, n int) ([]byte, error) {
	if _, err := c.Write(question); err != nil {
		return make([]byte, n), err
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(c, answer)
	return answer, err
}

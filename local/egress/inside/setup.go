// Package inside is the sandbox's side of its network: in the network namespace
// of pid 1 it makes every TCP connection and DNS query end at a relay, which asks
// the host side over a unix socket.
package inside

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
)

// Modes of a relay.
const (
	// ModeTransparent needs nothing of the programs inside.
	ModeTransparent = "transparent"
	// ModeProxy is for kernels without nftables NAT: programs must honour the
	// variables of Env.
	ModeProxy = "proxy"
)

// The relay's ports on 127.0.0.1, outside the range that the kernel picks from.
// When one is taken the kernel picks.
const (
	tcpPort = 61001
	dnsPort = 61053
)

// Setup prepares the network namespace of the calling thread: lo, address, route,
// redirection and listeners. It needs CAP_NET_ADMIN there and is called before
// privileges are dropped; Serve needs no privilege.
//
// It fails with ErrNotFresh, and changes nothing, where the namespace has more
// than lo.
func Setup() (relay *Relay, mode string, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := mustBeFresh(); err != nil {
		return nil, "", err
	}
	if err := bringUp(); err != nil {
		return nil, "", err
	}
	r, reason := transparent()
	if reason == nil {
		return r, ModeTransparent, nil
	}
	if r, err = SetupProxy(); err == nil {
		r.reason = reason
	}
	return r, ModeProxy, err
}

// SetupProxy is Setup as it ends on a kernel without NAT: a proxy and a nameserver
// on 127.0.0.1, and no default route, so that what ignores the variables is
// unreachable at once.
func SetupProxy() (*Relay, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := mustBeFresh(); err != nil {
		return nil, err
	}
	if err := bringUp(); err != nil {
		return nil, err
	}
	r, err := listen(tcpPort, 53)
	if err != nil {
		return nil, err
	}
	r.accept, r.nameserver = r.acceptProxy, "127.0.0.1"
	r.env = proxyEnv(r.tcpPort())
	return r, nil
}

// NoNetwork brings up lo and nothing else: every other address is unreachable at once.
func NoNetwork() error { return bringUp() }

func transparent() (*Relay, error) {
	r, err := listen(tcpPort, dnsPort)
	if err != nil {
		return nil, err
	}
	r.accept, r.nameserver = r.acceptRedirected, nameserver
	if err = redirect(r.tcpPort(), r.dnsPort()); err == nil {
		err = route()
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func listen(tcp, dns uint16) (*Relay, error) {
	t, err := listenTCP(tcp)
	if err != nil {
		return nil, err
	}
	u, err := listenUDP(dns)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return &Relay{tcp: t, dns: u}, nil
}

func listenTCP(port uint16) (*net.TCPListener, error) {
	for _, p := range []uint16{port, 0} {
		l, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(local(p)))
		if err == nil {
			return l, nil
		}
		if p == 0 {
			return nil, fmt.Errorf("listen inside: %w", err)
		}
	}
	return nil, net.ErrClosed
}

func listenUDP(port uint16) (*net.UDPConn, error) {
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(local(port)))
	if err != nil {
		return nil, fmt.Errorf("listen inside: %w", err)
	}
	return c, nil
}

func local(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

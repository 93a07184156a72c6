package inside

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
	"github.com/agent-sandbox/agent-sandbox/local/egress/wire"
)

const (
	// maxConnections bounds what one sandbox may hold open, questions included.
	maxConnections = 1024
	// answerClock bounds the host's answer: its dial clock and its peek clock.
	answerClock = 20 * time.Second
	// acceptPause is the wait after an accept that failed for lack of descriptors.
	acceptPause = 10 * time.Millisecond
)

// Relay owns the listeners inside. Close it, or end the ctx of Serve.
type Relay struct {
	tcp        *net.TCPListener
	dns        *net.UDPConn
	accept     func(*net.TCPConn)
	nameserver string
	env        []string
	reason     error
	socket     string
	open       splice.Set
}

// Serve relays to the host's socket until ctx ends, then closes the listeners and
// every connection.
func (r *Relay) Serve(ctx context.Context, socketPath string) {
	r.socket, r.open.Max = socketPath, maxConnections
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	asked := make(chan struct{})
	go func() { defer close(asked); r.serveDNS() }()
	r.serveTCP()
	_ = r.Close()
	<-asked
	r.open.Close()
}

// Close frees the listeners of a relay that is not served.
func (r *Relay) Close() error { return errors.Join(r.tcp.Close(), r.dns.Close()) }

// Env gives the variables (NAME=value) that programs inside need; none in ModeTransparent.
func (r *Relay) Env() []string { return r.env }

// Reason is why the mode is not transparent, nil when it is. For doctor.
func (r *Relay) Reason() error { return r.reason }

// Nameserver is the address for resolv.conf inside.
func (r *Relay) Nameserver() string { return r.nameserver }

func (r *Relay) tcpPort() uint16 { return portOf(r.tcp.Addr()) }
func (r *Relay) dnsPort() uint16 { return portOf(r.dns.LocalAddr()) }

func portOf(a net.Addr) uint16 {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return 0
	}
	return ap.Port()
}

func (r *Relay) serveTCP() {
	for {
		c, err := r.tcp.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
		default:
			r.open.Go(c, func() { r.accept(c) })
		}
	}
}

// acceptRedirected relays a connection that the kernel redirected here.
func (r *Relay) acceptRedirected(c *net.TCPConn) {
	to, err := originalDestination(c)
	if err != nil || to.Addr().IsLoopback() {
		splice.Reset(c)
		return
	}
	if to.Port() == 53 {
		r.relay(c, wire.Request{Kind: wire.DNS})
		return
	}
	r.relay(c, wire.Request{Kind: wire.Connect, Host: to.Addr().String(), Port: to.Port()})
}

// relay asks the host and copies. A refusal is a reset: the program has been
// connected by the kernel already.
func (r *Relay) relay(c *net.TCPConn, q wire.Request) {
	host, status, err := r.ask(q)
	if err == nil && status == wire.OK {
		splice.Join(c, host)
		return
	}
	if host != nil {
		_ = host.Close()
	}
	splice.Reset(c)
}

// ask opens a connection to the host side; for DNS there is no status to wait for.
func (r *Relay) ask(q wire.Request) (*net.UnixConn, wire.Status, error) {
	host, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: r.socket})
	if err != nil {
		return nil, 0, fmt.Errorf("dial host side: %w", err)
	}
	status, err := negotiate(host, q)
	if err != nil {
		return nil, 0, errors.Join(err, host.Close())
	}
	return host, status, nil
}

func negotiate(host *net.UnixConn, q wire.Request) (wire.Status, error) {
	if err := host.SetDeadline(time.Now().Add(answerClock)); err != nil {
		return 0, err
	}
	b, err := q.Append(nil)
	if err != nil {
		return 0, err
	}
	if _, err := host.Write(b); err != nil {
		return 0, fmt.Errorf("ask host side: %w", err)
	}
	status := wire.OK
	if q.Kind == wire.Connect {
		if status, err = wire.ReadStatus(host); err != nil {
			return 0, err
		}
	}
	return status, host.SetDeadline(time.Time{})
}

// originalDestination reads where a redirected connection was going.
func originalDestination(c *net.TCPConn) (netip.AddrPort, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return netip.AddrPort{}, err
	}
	var b [16]byte
	var failed error
	err = raw.Control(func(fd uintptr) {
		// A sockaddr_in fits the first 16 bytes of the structure that this reads.
		var m *unix.IPv6Mreq
		if m, failed = unix.GetsockoptIPv6Mreq(int(fd), unix.SOL_IP, unix.SO_ORIGINAL_DST); failed == nil {
			b = m.Multiaddr
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return netip.AddrPort{}, fmt.Errorf("original destination: %w", err)
	}
	addr := netip.AddrFrom4([4]byte(b[4:8]))
	return netip.AddrPortFrom(addr, uint16(b[2])<<8|uint16(b[3])), nil
}

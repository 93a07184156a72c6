package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
)

const (
	// dialClock bounds the whole of connecting, proxies included.
	dialClock = 10 * time.Second
	// attemptClock bounds one address of several.
	attemptClock = 3 * time.Second
	// maxAttempts bounds the addresses tried.
	maxAttempts = 4
	// keepAlive finds peers that are gone.
	keepAlive = 30 * time.Second
)

func dialDirect(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{KeepAlive: keepAlive}
	return d.DialContext(ctx, "tcp", to.String())
}

// dial connects to what a plan allows, by the sandbox's own proxy, by the host's,
// or directly, and tells which address it took (none by name).
func (h *Host) dial(ctx context.Context, s *ruleset, p plan, port uint16) (splice.Conn, netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, dialClock)
	defer cancel()
	if p.name != "" {
		c, err := h.dialHost(ctx, s, net.JoinHostPort(p.name, strconv.Itoa(int(port))))
		return c, netip.Addr{}, err
	}
	var failed error
	for i, a := range p.addrs[:min(len(p.addrs), maxAttempts)] {
		limit := attemptClock
		if i == len(p.addrs)-1 {
			limit = dialClock
		}
		c, err := h.attempt(ctx, s, netip.AddrPortFrom(a, port), p.direct, limit)
		if err == nil {
			return c, a, nil
		}
		failed = errors.Join(failed, err)
	}
	if failed == nil {
		failed = errRefused
	}
	return nil, netip.Addr{}, failed
}

func (h *Host) attempt(ctx context.Context, s *ruleset, to netip.AddrPort, direct bool, limit time.Duration) (splice.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if s.rules.EgressProxy != nil || !direct && h.proxy.takes(to.Addr().String(), to.Port()) {
		return h.dialHost(ctx, s, to.String())
	}
	c, err := h.dialAddr(ctx, to)
	return stream(c, err)
}

// dialHost hands a host:port to a proxy.
func (h *Host) dialHost(ctx context.Context, s *ruleset, hostport string) (splice.Conn, error) {
	if own := s.rules.EgressProxy; own != nil {
		return h.dialSocks(ctx, own, hostport)
	}
	return h.proxy.dial(ctx, hostport)
}

func stream(c net.Conn, err error) (splice.Conn, error) {
	if err != nil {
		return nil, err
	}
	s, ok := c.(splice.Conn)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, c.Close())
	}
	return s, nil
}

// within closes c when ctx ends before done is called.
func within(ctx context.Context, c net.Conn) (done func()) {
	if limit, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(limit)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	return func() {
		if stop() {
			_ = c.SetDeadline(time.Time{})
		}
	}
}

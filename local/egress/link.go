package egress

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
	"github.com/agent-sandbox/agent-sandbox/local/egress/wire"
)

const (
	// requestClock bounds the wait for the relay's request.
	requestClock = 5 * time.Second
	// questionClock bounds the wait for the next question on one connection.
	questionClock = 10 * time.Second
)

// link is one connection of a sandbox.
type link struct {
	policy *Policy
	inside *net.UnixConn

	mu      sync.Mutex
	outside net.Conn
	to      endpoint
	closed  bool
}

// endpoint is what a link is connected to, for when the rules change.
type endpoint struct {
	addr netip.Addr // invalid: the host's proxy got the name
	name string     // the proven one
	port uint16
}

func (l *link) serve() {
	_ = l.inside.SetDeadline(time.Now().Add(requestClock))
	r, err := wire.ReadRequest(l.inside)
	if err != nil {
		return
	}
	_ = l.inside.SetDeadline(time.Time{})
	if r.Kind == wire.DNS {
		l.serveDNS()
		return
	}
	l.connect(l.policy.target(r))
}

func (l *link) serveDNS() {
	for {
		_ = l.inside.SetDeadline(time.Now().Add(questionClock))
		question, err := wire.ReadMessage(l.inside)
		if err != nil {
			return
		}
		reply, err := l.policy.answerDNS(l.policy.ctx, question)
		if err != nil || wire.WriteMessage(l.inside, reply) != nil {
			return
		}
	}
}

// connect carries out what the rules say about a target.
func (l *link) connect(t target) {
	s := l.policy.ruleset()
	p, err := l.policy.plan(l.policy.ctx, s, t)
	switch {
	case err != nil:
		l.fail(t, err)
	case p.verdict == needName, p.verdict == allow && l.policy.rewrites(s, p, t.port):
		l.peek(t, p)
	case p.verdict == allow:
		l.straight(t, p)
	default:
		l.fail(t, errRefused)
	}
}

// straight dials and copies.
func (l *link) straight(t target, p plan) {
	out, err := l.dial(p, t.port, "")
	if err != nil {
		l.fail(t, err)
		return
	}
	if wire.WriteStatus(l.inside, wire.OK) == nil {
		splice.Join(l.inside, out)
	}
}

// peek reads the client's first bytes to learn the name; to get them the relay
// has to be told that the connection stands.
func (l *link) peek(t target, p plan) {
	if wire.WriteStatus(l.inside, wire.OK) != nil {
		return
	}
	first, err := sniff(l.inside)
	if p.verdict == needName && err != nil {
		l.refused(t, first.name, err)
		return
	}
	if first.http {
		newForwarder(l, t, p, first).run()
		return
	}
	if p.verdict == needName {
		if p, err = l.prove(t, first); err != nil {
			l.refused(t, first.name, err)
			return
		}
	}
	l.resume(t, p, first)
}

// prove turns the name that a client states into addresses that the host has
// resolved itself: what the client dialled does not matter any more.
func (l *link) prove(t target, first opening) (plan, error) {
	name := first.name
	if name == "" && first.tls && t.addr.IsValid() {
		name = t.addr.String() // TLS to a bare address states no name
	}
	if name == "" {
		return plan{}, errRefused
	}
	return l.policy.byName(l.policy.ctx, l.policy.ruleset(), name, t.port)
}

// resume dials and copies, starting with what was read already.
func (l *link) resume(t target, p plan, first opening) {
	out, err := l.dial(p, t.port, first.name)
	if err != nil {
		l.refused(t, first.name, err)
		return
	}
	_ = l.inside.SetReadDeadline(time.Time{})
	if _, err := out.Write(first.bytes); err == nil {
		splice.Join(l.inside, out)
	}
}

// dial connects to the first address that answers, and keeps the connection as
// the link's.
func (l *link) dial(p plan, port uint16, name string) (splice.Conn, error) {
	if p.name != "" {
		name = p.name
	}
	out, addr, err := l.policy.host.dial(l.policy.ctx, l.policy.ruleset(), p, port)
	if err != nil {
		return nil, err
	}
	if !l.keep(out, endpoint{addr: addr, name: name, port: port}) {
		return nil, errRefused
	}
	return out, nil
}

// dialProxy connects to the host's HTTP proxy for requests with whole URLs.
func (l *link) dialProxy(proxy *url.URL, host string, port uint16) (splice.Conn, error) {
	ctx, cancel := context.WithTimeout(l.policy.ctx, dialClock)
	defer cancel()
	out, err := reach(ctx, proxy)
	if err != nil {
		return nil, err
	}
	to := endpoint{name: host, port: port}
	if a, err := netip.ParseAddr(host); err == nil {
		to.addr = a
	}
	if !l.keep(out, to) {
		return nil, errRefused
	}
	return out, nil
}

// keep makes out the link's connection, unless the link was closed or the rules
// changed meanwhile.
func (l *link) keep(out net.Conn, to endpoint) bool {
	l.mu.Lock()
	old := l.outside
	l.outside, l.to = out, to
	closed := l.closed
	l.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	if closed || !l.policy.stands(to) {
		splice.Reset(out)
		return false
	}
	return true
}

// stands holds a connection against the rules in force.
func (p *Policy) stands(to endpoint) bool {
	s := p.ruleset()
	if !to.addr.IsValid() {
		return s.permittedName(to.name, to.port)
	}
	return p.permitted(s, to.addr, to.port, to.name)
}

// recheck cuts the link when the rules in force refuse it.
func (l *link) recheck() {
	l.mu.Lock()
	connected, to := l.outside != nil, l.to
	l.mu.Unlock()
	if connected && !l.policy.stands(to) {
		l.policy.host.log.Debug("egress cut by new rules", slog.Int("port", int(to.port)))
		_ = l.Close()
	}
}

// Close cuts both sides.
func (l *link) Close() error {
	l.mu.Lock()
	out := l.outside
	l.closed = true
	l.mu.Unlock()
	if out != nil {
		splice.Reset(out)
	}
	return l.inside.Close()
}

// fail answers a request that never got a connection.
func (l *link) fail(t target, err error) {
	l.refused(t, t.name, err)
	_ = wire.WriteStatus(l.inside, statusOf(err))
}

func (l *link) refused(t target, name string, err error) {
	l.policy.host.log.Debug("egress refused", slog.String("address", t.addr.String()),
		slog.Int("port", int(t.port)), slog.String("name", name), slog.Any("why", err))
}

func statusOf(err error) wire.Status {
	var slow net.Error
	switch {
	case errors.Is(err, errRefused):
		return wire.Refused
	case errors.Is(err, errNoName):
		return wire.NoName
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return wire.TimedOut
	}
	return wire.Unreachable
}

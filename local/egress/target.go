package egress

import (
	"context"
	"errors"
	"net/netip"

	"github.com/agent-sandbox/agent-sandbox/local/egress/wire"
)

// hostLoopback is what hostInside means.
func hostLoopback() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }

// hostInside is the address at which a sandbox finds the host's own 127.0.0.1,
// provided that a rule names 127.0.0.1: inside, 127.0.0.1 is the sandbox's.
func hostInside() netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 2, 2}) }

// errRefused is returned when the rules say no.
var errRefused = errors.New("refused by the sandbox's network rules")

// errNoName is returned when a name has no address.
var errNoName = errors.New("the name does not resolve")

// target is where a sandbox wants to connect: by address, or by name alone.
type target struct {
	addr netip.Addr
	name string
	port uint16
}

func (p *Policy) target(r wire.Request) target {
	t := target{port: r.Port}
	a, err := netip.ParseAddr(r.Host)
	if err != nil {
		t.name = canonical(r.Host)
		return t
	}
	if name, ok := p.book.meaning(a); ok {
		t.name = name
		return t
	}
	if a == hostInside() {
		a = hostLoopback()
	}
	t.addr = a
	return t
}

// plan is what to do about a target.
type plan struct {
	verdict verdict
	// addrs may be dialled when the verdict is allow; empty with a name means
	// that the host's proxy gets the name.
	addrs []netip.Addr
	name  string
	// direct is set for addresses of a name that NO_PROXY names.
	direct bool
}

func (p *Policy) plan(ctx context.Context, s *ruleset, t target) (plan, error) {
	switch {
	case t.addr.IsValid():
		return p.planAddress(s, t), nil
	case t.name == "":
		return plan{}, nil
	case p.host.proxies(t.name, t.port):
		return planName(s, t), nil
	}
	return p.planLookup(ctx, s, t)
}

func (p *Policy) planAddress(s *ruleset, t target) plan {
	v := p.judge(s, t.addr, t.port)
	if v != allow {
		return plan{verdict: v}
	}
	addrs := []netip.Addr{t.addr}
	names := p.book.namesOf(t.addr)
	if len(names) > 0 {
		// The kernel inside has connected already, so the program cannot try the
		// name's other addresses itself.
		addrs = append(addrs, p.keep(s, p.book.any(names[0]), t.port, "")...)
	}
	return plan{verdict: allow, addrs: unique(addrs), direct: len(names) > 0}
}

func planName(s *ruleset, t target) plan {
	switch {
	case local(t.name):
		return plan{}
	case !s.closed:
		return plan{verdict: allow, name: t.name}
	case s.named(t.port) && len(s.domains) > 0:
		return plan{verdict: needName}
	}
	return plan{}
}

func (p *Policy) planLookup(ctx context.Context, s *ruleset, t target) (plan, error) {
	if !s.resolvable(t.name) {
		return plan{}, nil
	}
	addrs, err := p.lookup(ctx, t.name)
	if err != nil {
		return plan{}, errors.Join(errNoName, err)
	}
	if kept := p.keep(s, addrs, t.port, ""); len(kept) > 0 {
		return plan{verdict: allow, addrs: kept, direct: true}, nil
	}
	for _, a := range addrs {
		if v := p.judge(s, a, t.port); v != refuse {
			return plan{verdict: v}, nil
		}
	}
	return plan{}, nil
}

// byName plans a connection whose name has been proven.
func (p *Policy) byName(ctx context.Context, s *ruleset, name string, port uint16) (plan, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return granted(p.keep(s, []netip.Addr{a}, port, name), false)
	}
	if p.host.proxies(name, port) {
		if !s.permittedName(name, port) {
			return plan{}, errRefused
		}
		return plan{verdict: allow, name: name}, nil
	}
	addrs, err := p.lookup(ctx, name)
	if err != nil {
		return plan{}, errors.Join(errNoName, err)
	}
	return granted(p.keep(s, addrs, port, name), true)
}

func granted(addrs []netip.Addr, direct bool) (plan, error) {
	if len(addrs) == 0 {
		return plan{}, errRefused
	}
	return plan{verdict: allow, addrs: addrs, direct: direct}, nil
}

// keep gives the addresses that may be dialled.
func (p *Policy) keep(s *ruleset, addrs []netip.Addr, port uint16, name string) []netip.Addr {
	var kept []netip.Addr
	for _, a := range addrs {
		if p.permitted(s, a, port, name) {
			kept = append(kept, a)
		}
	}
	return kept
}

func unique(addrs []netip.Addr) []netip.Addr {
	seen := map[netip.Addr]bool{}
	var once []netip.Addr
	for _, a := range addrs {
		if !seen[a] {
			seen[a] = true
			once = append(once, a)
		}
	}
	return once
}

package egress

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// lookupClock bounds one question to the host's resolver.
const lookupClock = 5 * time.Second

// lookup resolves a canonical name on the host, IPv4 first.
func (p *Policy) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if addrs, ok := p.book.fresh(name, time.Now()); ok {
		return addrs, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupClock)
	defer cancel()
	found, err := p.host.resolver.LookupNetIP(ctx, "ip", rooted(name))
	if err != nil {
		return nil, fmt.Errorf("look up name: %w", err)
	}
	var four, six []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); a.Is4() {
			four = append(four, a)
		} else {
			six = append(six, a)
		}
	}
	addrs := append(four, six...)
	p.book.record(name, addrs, time.Now())
	return addrs, nil
}

// rooted keeps the host's search list away from whole names.
func rooted(name string) string {
	if strings.Contains(name, ".") {
		return name + "."
	}
	return name
}

// reachable keeps the addresses that could be dialled for a name on some port.
// What is left out of an answer cannot tell a sandbox how the host's private
// network is laid out.
func (p *Policy) reachable(s *ruleset, name string, addrs []netip.Addr) []netip.Addr {
	lent := p.host.isRegistry(name, 0)
	var kept []netip.Addr
	for _, a := range addrs {
		c := p.host.class(a)
		if c == Public || s.allows(p.host.guard(), a) || (lent && lendable(c)) {
			kept = append(kept, a)
		}
	}
	return kept
}

package egress

import (
	"net/netip"
	"slices"
)

// verdict on a connection whose name is not known yet.
type verdict int

const (
	refuse   verdict = iota
	allow            // whatever its name
	needName         // depends on the TLS SNI or HTTP Host
)

// permitted is the one place where an address that is about to be dialled, or is
// connected, is held against the rules. name is the proven one: read from the TLS
// SNI or HTTP Host and resolved on the host to this address; "" is none.
func (p *Policy) permitted(s *ruleset, a netip.Addr, port uint16, name string) bool {
	if s.allows(p.host.guard(), a) {
		return true
	}
	c := p.host.class(a)
	if c != Public && !(lendable(c) && name != "" && p.host.isRegistry(name, port)) {
		return false
	}
	if s.denies(a) {
		return s.named(port) && s.allowsName(name)
	}
	return true
}

// permittedName is permitted for a connection through the host's own proxy,
// where the address is never known.
func (s *ruleset) permittedName(name string, port uint16) bool {
	if name == "" || local(name) {
		return false
	}
	return !s.closed || (s.named(port) && s.allowsName(name))
}

// judge tells what an address needs to be let through.
func (p *Policy) judge(s *ruleset, a netip.Addr, port uint16) verdict {
	if p.permitted(s, a, port, "") {
		return allow
	}
	byRule := len(s.domains) > 0 && s.named(port)
	if s.denies(a) {
		if byRule {
			return needName
		}
		return refuse
	}
	if p.lentTo(a, port) {
		return needName
	}
	return refuse
}

// lentTo tells whether an address is what a registry's name resolved to.
func (p *Policy) lentTo(a netip.Addr, port uint16) bool {
	names := append(p.book.namesOf(a), a.String())
	return slices.ContainsFunc(names, func(n string) bool { return p.host.isRegistry(n, port) })
}

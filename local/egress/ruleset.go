package egress

import (
	"net/netip"
	"slices"
	"strings"
)

// ruleset is Rules made ready for questions.
type ruleset struct {
	rules    Rules
	allow    []netip.Prefix
	domains  []string
	deny     []netip.Prefix
	closed   bool // all IPv4 is denied
	tlsPorts []uint16
}

func compile(r Rules) (*ruleset, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	s := &ruleset{rules: r, tlsPorts: []uint16{443}}
	for _, entry := range r.AllowOut {
		if p, err := parsePrefix(entry); err == nil {
			s.allow = append(s.allow, p)
		} else {
			s.domains = append(s.domains, entry)
		}
	}
	for _, entry := range r.denied() {
		p, err := parsePrefix(entry)
		if err != nil {
			return nil, invalid("invalid denied CIDR %s", entry)
		}
		s.deny = append(s.deny, p)
		s.closed = s.closed || (p.Bits() == 0 && p.Addr().Is4())
	}
	for _, p := range r.HTTPSPorts {
		s.tlsPorts = append(s.tlsPorts, uint16(p))
	}
	return s, nil
}

// denied lists what is refused. Denying all of IPv4 denies IPv6 with it: E2B's
// sandboxes have no IPv6, so its users write only the one.
func (r Rules) denied() []string {
	off := r.AllowInternet != nil && !*r.AllowInternet
	if !off && !slices.Contains(r.DenyOut, allTraffic) {
		return r.DenyOut
	}
	return append(slices.Clone(r.DenyOut), allTraffic, "::/0")
}

// named tells whether domain rules are read on a port (E2B: TLS and plain HTTP).
func (s *ruleset) named(port uint16) bool {
	return port == 80 || slices.Contains(s.tlsPorts, port)
}

func (s *ruleset) allowsName(name string) bool {
	return name != "" && slices.ContainsFunc(s.domains, func(p string) bool { return matches(p, name) })
}

func (s *ruleset) denies(a netip.Addr) bool {
	return slices.ContainsFunc(s.deny, func(p netip.Prefix) bool { return p.Contains(a) })
}

func (s *ruleset) allows(g *guard, a netip.Addr) bool {
	return slices.ContainsFunc(s.allow, func(p netip.Prefix) bool { return g.names(p, a) })
}

// headers gives what is to be set on plain HTTP requests to a host.
func (s *ruleset) headers(host string) map[string]string {
	for domain, rules := range s.rules.Transform {
		if len(rules) > 0 && rules[0].Transform != nil && matches(strings.TrimPrefix(domain, plainHTTP), host) {
			return rules[0].Transform.Headers
		}
	}
	return nil
}

// resolvable tells whether a sandbox may ask for a name at all: where everything
// is denied, questions would otherwise carry data out.
func (s *ruleset) resolvable(name string) bool {
	return !s.closed || len(s.allow) > 0 || s.allowsName(name)
}

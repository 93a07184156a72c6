package egress

import "net/netip"

// ReachesHost finds what in the rules opens the host's own network to a sandbox:
// an entry of AllowOut that names protected addresses (see Class), or a proxy,
// which the host dials wherever it is. It returns "" where nothing does.
func (h *Host) ReachesHost(r Rules) string {
	if r.EgressProxy != nil {
		return "egressProxy"
	}
	g := h.guard()
	for _, entry := range r.AllowOut {
		if p, err := parsePrefix(entry); err == nil && g.within(p) {
			return "allowOut " + entry
		}
	}
	return ""
}

// within tells whether a rule lies in a protected block, and so names addresses of it.
func (g *guard) within(p netip.Prefix) bool {
	for _, b := range g.blocks {
		if p.Bits() >= b.prefix.Bits() && b.prefix.Contains(p.Addr()) {
			return true
		}
	}
	return false
}

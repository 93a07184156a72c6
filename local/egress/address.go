package egress

import (
	"net/netip"
	"slices"
)

// Class is what kind of address one is. Only Public is let through unless a rule
// names the address.
type Class string

// Classes of addresses.
const (
	Public     Class = "public"
	Loopback   Class = "loopback"
	Private    Class = "private"
	LinkLocal  Class = "link-local"
	Metadata   Class = "metadata"
	Multicast  Class = "multicast"
	Reserved   Class = "reserved"
	Translated Class = "translated" // an IPv4 address in IPv6 clothes
	HostOwn    Class = "the host's own"
)

type block struct {
	prefix netip.Prefix
	class  Class
}

// protectedBlocks are the ranges that are not globally reachable (IANA special-
// purpose registries) and the addresses at which clouds serve credentials, the
// most telling first.
func protectedBlocks() []block {
	blocks := []block{}
	add := func(c Class, prefixes ...string) {
		for _, p := range prefixes {
			blocks = append(blocks, block{netip.MustParsePrefix(p), c})
		}
	}
	add(Metadata, "169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "169.254.0.23/32",
		"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32",
		"fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128")
	add(Loopback, "127.0.0.0/8", "::1/128")
	add(LinkLocal, "169.254.0.0/16", "fe80::/10")
	add(Private, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10")
	add(Multicast, "224.0.0.0/4", "ff00::/8")
	add(Translated, "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96")
	add(Reserved, "0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/128", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16")
	return blocks
}

// guard knows every protected address of this host.
type guard struct{ blocks []block }

// newGuard adds the host's own addresses to the protected ones.
func newGuard(own []netip.Addr) *guard {
	g := &guard{blocks: protectedBlocks()}
	for _, a := range own {
		a = a.WithZone("").Unmap()
		g.blocks = append(g.blocks, block{netip.PrefixFrom(a, a.BitLen()), HostOwn})
	}
	return g
}

// class of an address. Zones do not change it; an invalid address is Reserved.
func (g *guard) class(a netip.Addr) Class {
	a = a.WithZone("")
	for _, b := range g.blocks {
		if b.prefix.Contains(a) {
			return b.class
		}
	}
	if !a.IsValid() {
		return Reserved
	}
	return Public
}

// names tells whether rule p means the address explicitly: p lies within every
// protected block that holds the address, so that 0.0.0.0/0 names no private
// address and 169.254.0.0/16 no metadata service.
func (g *guard) names(p netip.Prefix, a netip.Addr) bool {
	if !p.Contains(a) {
		return false
	}
	return !slices.ContainsFunc(g.blocks, func(b block) bool {
		return b.prefix.Contains(a) && (p.Bits() < b.prefix.Bits())
	})
}

// lendable tells whether the registry exception may reach an address of class c.
func lendable(c Class) bool {
	return c == Public || c == Private || c == Reserved || c == HostOwn
}

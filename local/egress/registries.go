package egress

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// endpoints are hosts with ports: where package registries are served.
type endpoints map[string]map[uint16]bool

// has tells whether a canonical host is among them on a port; 0 is any port.
func (e endpoints) has(host string, port uint16) bool {
	ports := e[host]
	return len(ports) > 0 && (port == 0 || ports[port])
}

// list gives host:port, sorted.
func (e endpoints) list() []string {
	var all []string
	for host, ports := range e {
		for port := range ports {
			all = append(all, net.JoinHostPort(host, strconv.Itoa(int(port))))
		}
	}
	slices.Sort(all)
	return all
}

// add takes the host and port of an http(s) URL; anything else is left out, and
// so is what means the host machine itself.
func (e endpoints) add(raw string) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return
	}
	port := map[string]uint16{"http": 80, "https": 443}[strings.ToLower(u.Scheme)]
	if port == 0 {
		return
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return
		}
		port = uint16(n)
	}
	host := hostOf(u.Host)
	if a, err := netip.ParseAddr(host); host == "" || local(host) || (err == nil && a.IsLoopback()) {
		return
	}
	if e[host] == nil {
		e[host] = map[uint16]bool{}
	}
	e[host][port] = true
}

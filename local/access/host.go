package access

import (
	"net"
	"strings"
)

// SplitHost takes the Host of a request apart into a lower-case name, without
// brackets, and a port ("" when there is none).
func SplitHost(host string) (name, port string) {
	name = strings.ToLower(host)
	if h, p, err := net.SplitHostPort(name); err == nil {
		name, port = h, p
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.TrimSuffix(name, "."), port
}

// LoopbackHost reports whether the Host of a request names this machine. Any
// other name means that somebody's DNS leads a browser here (DNS rebinding).
// The port is free: a tunnel may end anywhere.
func LoopbackHost(host string) bool {
	name, _ := SplitHost(host)
	return plainLoopback(name) || strings.HasSuffix(name, ".localhost")
}

func plainLoopback(name string) bool {
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}

// ControlHost reports whether the Host of a request may reach the control
// plane: a plain name of this machine, or api.localhost, which a client makes
// from the domain.
func ControlHost(host string) bool {
	name, _ := SplitHost(host)
	return plainLoopback(name) || name == "api.localhost"
}

// Package egress is the host side of a sandbox's network: it resolves names,
// checks rules on the address that it really dials, and dials. Nothing inside a
// sandbox ever holds a socket of the host's network.
package egress

import (
	"context"
	"log/slog"
	"net/netip"
)

// Resolver looks up names on the host; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// HostOptions are what all sandboxes of one server share. The zero value has no
// registry exception, the system's resolver and no proxy.
type HostOptions struct {
	// Registries lets sandboxes reach the package registries of the host's own
	// tools by name and port, even where these names resolve to private addresses.
	Registries bool
	// Env is what the host's proxy, pip, npm and Go settings are read from, as
	// os.Environ gives it. nil reads nothing.
	Env []string
	// Resolver is nil for the system's.
	Resolver Resolver
	// Log gets what was refused and why, never a secret. nil is silent.
	Log *slog.Logger
}

// Host dials for all sandboxes of one server.
type Host struct{ opt HostOptions }

// NewHost reads the host's settings; it starts nothing.
func NewHost(opt HostOptions) *Host { return &Host{opt: opt} }

// Proxied tells whether connections go through the host's own HTTP(S)_PROXY, in
// which case rules are checked on names alone. For doctor.
func (h *Host) Proxied() bool { return false }

// Registries lists the host:port pairs of the registry exception. For doctor.
func (h *Host) Registries() []string { return nil }

// Open listens on a unix socket for the relay of one sandbox. The socket is mode
// 0666, so its directory must be private to the server. The path may be at most
// 107 bytes long.
func (h *Host) Open(socketPath string, r Rules) (*Policy, error) { return &Policy{}, nil }

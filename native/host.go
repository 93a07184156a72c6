// Package native is the Go host of the core: net/http, WebSockets, files and
// the clock of the operating system behind transport.Host, and what a native
// program needs around it.
package native

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// ErrClosed is the cause of every wait on a host that was closed.
var ErrClosed = errors.New("the client was closed")

// HostOptions configures a Host. The zero value takes proxy and CA from the
// environment and keeps sessions where design.md 5 says.
type HostOptions struct {
	// Proxy is the URL of the proxy for every transport; "" takes HTTPS_PROXY,
	// HTTP_PROXY and NO_PROXY (either case), "direct" uses none. Loopback never
	// goes through a proxy.
	Proxy string
	// CAFile is a PEM file of authorities to trust besides the system's; ""
	// takes SSL_CERT_FILE.
	CAFile string
	// StoreDir holds named sessions; "" is agent-sandbox/sessions in
	// $XDG_STATE_HOME (or ~/.local/state).
	StoreDir string
	// Getenv reads the environment; nil is os.Getenv.
	Getenv func(string) string
}

// Host implements transport.Host with goroutines, net/http and files. It is safe
// for concurrent use. The zero value is not usable: see NewHost.
type Host struct {
	http    *http.Transport
	sockets *http.Client // HTTP/1.1 only: a WebSocket needs the upgrade
	cache   cache
	flights flights
	store   *FileStore
	buffers buffers

	ctx   context.Context // ends with Close
	close context.CancelCauseFunc
	once  sync.Once
}

// NewHost makes a host. It fails on a CA file or proxy setting that cannot be
// used; nothing is dialled. Close it when done.
func NewHost(o HostOptions) (*Host, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	h := &Host{store: NewFileStore(o.sessionsDir())}
	h.ctx, h.close = context.WithCancelCause(context.Background())
	plain, err := newTransport(h.ctx, o)
	if err != nil {
		return nil, err
	}
	h.http = plain
	h.sockets = newSocketClient(plain)
	return h, nil
}

// Close ends every exchange and closes every connection. What cleans up after a
// cancel (the kill of a command, of a half-made sandbox) is waited for, at most for
// the cleanup clock. It is idempotent.
func (h *Host) Close() error {
	h.once.Do(func() {
		h.flights.drain()
		h.close(ErrClosed)
		h.http.CloseIdleConnections()
		h.sockets.CloseIdleConnections()
	})
	return nil
}

// ended is the reason when ctx or the host has ended.
func (h *Host) ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return context.Cause(h.ctx)
}

// Rand fills b with random bytes of the operating system.
func (h *Host) Rand(b []byte) { _, _ = rand.Read(b) } // never fails (crypto/rand)

// Now is the calendar time.
func (h *Host) Now() time.Time { return time.Now() }

// Cache is the host's discardable memory.
func (h *Host) Cache() transport.Cache { return &h.cache }

// Store keeps named sessions as files.
func (h *Host) Store() transport.Store { return h.store }

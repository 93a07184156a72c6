package fleet

import (
	"context"
	"net"
	"time"
)

// Box is one running sandbox as the isolation layer gives it.
type Box interface {
	// Dial connects to the daemon inside.
	Dial(ctx context.Context) (net.Conn, error)
	// DialPort connects to a port on the sandbox's own loopback.
	DialPort(ctx context.Context, port int) (net.Conn, error)
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	// Kill ends every process inside and returns when nothing is left. It may
	// be called at any time and more than once.
	Kill() error
	// Done is closed when the sandbox's first process is gone.
	Done() <-chan struct{}
	Usage() (Usage, error)
}

// Usage is what a sandbox uses. Sizes are in bytes; a total of 0 is unknown.
type Usage struct {
	CPU                         time.Duration
	MemUsed, MemTotal, MemCache int64
	DiskUsed, DiskTotal         int64
}

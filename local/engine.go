//go:build linux

package local

import (
	"context"
	"errors"
	"net"

	"github.com/agent-sandbox/agent-sandbox/local/fleet"
	"github.com/agent-sandbox/agent-sandbox/local/gateway"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// engine is what the server needs of the isolation layer.
type engine interface {
	Templates() []isolation.Template
	Start(ctx context.Context, spec isolation.Spec) (box, error)
	Close() error
}

// box is one sandbox of an engine.
type box interface {
	fleet.Box
	Limits() []isolation.Limit
}

// boxes makes an engine of the real isolation layer.
type boxes struct{ *isolation.Engine }

// Start starts one sandbox.
func (b boxes) Start(ctx context.Context, spec isolation.Spec) (box, error) {
	started, err := b.Engine.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return isolated{started}, nil
}

// isolated speaks the fleet's and the gateway's language.
type isolated struct{ *isolation.Box }

// Dial connects to the daemon.
func (b isolated) Dial(ctx context.Context) (net.Conn, error) {
	conn, err := b.Box.Dial(ctx)
	return conn, unreachable(err)
}

// DialPort connects to a port inside.
func (b isolated) DialPort(ctx context.Context, port int) (net.Conn, error) {
	conn, err := b.Box.DialPort(ctx, port)
	return conn, unreachable(err)
}

// unreachable puts an error of a dial into the gateway's words.
func unreachable(err error) error {
	var closed *isolation.PortClosedError
	switch {
	case errors.As(err, &closed):
		return gateway.ErrPortClosed
	case errors.Is(err, isolation.ErrGone):
		return gateway.ErrGone
	default:
		return err
	}
}

// Usage measures the sandbox.
func (b isolated) Usage() (fleet.Usage, error) {
	u, err := b.Box.Usage()
	return fleet.Usage{
		CPU: u.CPU, MemUsed: u.MemUsed, MemTotal: u.MemTotal, MemCache: u.MemCache,
		DiskUsed: u.DiskUsed, DiskTotal: u.DiskTotal,
	}, err
}

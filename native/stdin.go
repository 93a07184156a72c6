package native

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
)

const (
	// cleanupClock bounds what is still done after a cancel.
	cleanupClock = 5 * time.Second
	// stdinPiece is how much is read at once.
	stdinPiece = 256 << 10
	// stdinPing is how long a silent stdin may be before the connection is shown alive.
	stdinPing = 30 * time.Second
)

// feed copies r to a process's stdin and ends it at end of file. A command that
// ended first makes the rest needless: that is no error.
func (c *Commands) feed(ctx context.Context, sel core.Selector, r io.Reader) {
	next := stdinPieces(ctx, r)
	send := func() error { return c.StreamStdin(ctx, sel, next) }
	if !c.streams(ctx, sel) {
		send = func() error { return c.sendPieces(ctx, sel, next) }
	}
	if send() != nil || ctx.Err() != nil {
		return
	}
	_ = c.CloseStdin(ctx, sel)
}

// streams asks with an empty stream whether the peer has client streams, before
// any input is at stake.
func (c *Commands) streams(ctx context.Context, sel core.Selector) bool {
	err := c.StreamStdin(ctx, sel, func(context.Context) ([]byte, error) { return nil, io.EOF })
	return core.CodeOf(err) != core.CodeCapability
}

// sendPieces is for peers without client streams.
func (c *Commands) sendPieces(ctx context.Context, sel core.Selector, next func(context.Context) ([]byte, error)) error {
	for {
		b, err := next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(b) == 0 {
			continue
		}
		if err := c.SendStdin(ctx, sel, b); err != nil {
			return err
		}
	}
}

type piece struct {
	b   []byte
	err error
}

// stdinPieces reads r in a goroutine of its own, for a terminal or pipe cannot be
// read with a ctx; two buffers go round. It gives an empty piece when r has been
// silent for a while.
func stdinPieces(ctx context.Context, r io.Reader) func(context.Context) ([]byte, error) {
	full, free := make(chan piece), make(chan []byte, 2)
	free <- make([]byte, stdinPiece)
	free <- make([]byte, stdinPiece)
	go readPieces(ctx, r, full, free)
	var lent []byte
	return func(ctx context.Context) ([]byte, error) {
		if lent != nil {
			free <- lent[:stdinPiece]
			lent = nil
		}
		ping := time.NewTimer(stdinPing)
		defer ping.Stop()
		select {
		case p := <-full:
			if p.err != nil {
				return nil, p.err
			}
			lent = p.b
			return p.b, nil
		case <-ping.C:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func readPieces(ctx context.Context, r io.Reader, full chan<- piece, free <-chan []byte) {
	for {
		var b []byte
		select {
		case b = <-free:
		case <-ctx.Done():
			return
		}
		n, err := r.Read(b)
		for _, p := range []piece{{b[:n], nil}, {nil, err}} {
			if len(p.b) == 0 && p.err == nil {
				continue
			}
			select {
			case full <- p:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

package envd

import (
	"context"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

const service = "process.Process/"

// List gives the running processes.
func (c *Client) List(ctx context.Context) ([]plane.ProcessInfo, error) {
	var out processList
	err := c.unary(ctx, true, service+"List", "", processArea, empty{}, &out)
	return out.list, err
}

// SendInput writes b to a process's stdin, or to its terminal.
func (c *Client) SendInput(ctx context.Context, sel plane.Selector, pty bool, b []byte) error {
	return c.unary(ctx, false, service+"SendInput", "", processArea, inputRequest{sel, input{pty, b}}, done{})
}

// CloseStdin ends a process's stdin; twice is fine. Errors: E3004 before envd
// 0.5.2 (e2b.md 3.6).
func (c *Client) CloseStdin(ctx context.Context, sel plane.Selector) error {
	if !AtLeast(c.cfg.Version, 0, 5, 2) {
		return fault.New(fault.CodeCapability, "this sandbox's envd %s cannot close stdin", c.cfg.Version).Suggest("rebuild the template")
	}
	return c.unary(ctx, true, service+"CloseStdin", "", processArea, selectRequest{sel}, done{})
}

// Signal signals a process. Only SIGKILL may be repeated: it has no second effect.
func (c *Client) Signal(ctx context.Context, sel plane.Selector, sig plane.Signal) error {
	return c.unary(ctx, sig == plane.SIGKILL, service+"SendSignal", "", processArea, signalRequest{sel, sig}, done{})
}

// Resize tells a terminal its size.
func (c *Client) Resize(ctx context.Context, sel plane.Selector, size plane.Size) error {
	return c.unary(ctx, true, service+"Update", "", processArea, resizeRequest{sel, size}, done{})
}

// StreamInput sends many pieces of input in one call. It returns once the peer
// has acknowledged them all, and for that the request clock runs. None runs while
// next waits for its source; a piece without bytes keeps the connection alive.
func (c *Client) StreamInput(ctx context.Context, sel plane.Selector, pty bool, next func(context.Context) ([]byte, error)) error {
	answering, over, disarm := c.cfg.Host.Later(ctx, transport.ClockRequest, c.cfg.Request)
	defer disarm()
	started := false
	message := func(ctx context.Context) (connect.Encoder, error) {
		if !started {
			started = true
			return streamStart{sel}, nil
		}
		b, err := next(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(b) == 0 {
			if err != nil {
				over()
				return nil, io.EOF
			}
			return streamKeepalive{}, nil
		}
		return streamData{input{pty, b}}, nil
	}
	err := c.learnCodec(ctx, sel)
	if err == nil {
		rpc := c.rpc("")
		err = rpc.Send(answering, service+"StreamInput", message, done{})
	}
	return c.explain(ctx, connect.Classify(ctx, err, processArea))
}

// learnCodec finds out what the peer speaks before any input is at stake: what
// next gave cannot be had again.
func (c *Client) learnCodec(ctx context.Context, sel plane.Selector) error {
	if c.codecKnown() {
		return nil
	}
	limited, _, disarm := c.cfg.Host.Limit(ctx, transport.ClockRequest, c.cfg.Request)
	defer disarm()
	return c.spoken("", func(rpc connect.Client) error {
		started := false
		return rpc.Send(limited, service+"StreamInput", func(context.Context) (connect.Encoder, error) {
			if started {
				return nil, io.EOF
			}
			started = true
			return streamStart{sel}, nil
		}, done{})
	})
}

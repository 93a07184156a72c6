package native

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
)

// Sandbox is a core.Sandbox whose processes, terminals and watches also come as
// handles that run beside the caller.
type Sandbox struct {
	*core.Sandbox
	Commands *Commands
	Pty      *Pty
	Files    *Files
}

func (c *Client) wrap(s *core.Sandbox, err error) (*Sandbox, error) {
	if err != nil {
		return nil, err
	}
	files := &Files{Files: s.Files, commands: s.Commands, host: c.host}
	return &Sandbox{s, &Commands{s.Commands}, &Pty{s.Pty}, files}, nil
}

// Create makes a sandbox; see core.Client.Create.
func (c *Client) Create(ctx context.Context, o core.CreateOptions) (*Sandbox, error) {
	return c.wrap(c.Client.Create(ctx, o))
}

// Connect takes a running sandbox as it is and resumes a paused one.
func (c *Client) Connect(ctx context.Context, id string, o core.ConnectOptions) (*Sandbox, error) {
	return c.wrap(c.Client.Connect(ctx, id, o))
}

// Resume is Connect for a sandbox known to be paused.
func (c *Client) Resume(ctx context.Context, id string, o core.ConnectOptions) (*Sandbox, error) {
	return c.wrap(c.Client.Resume(ctx, id, o))
}

// Open binds a handle without any request.
func (c *Client) Open(h *handle.Handle) (*Sandbox, error) { return c.wrap(c.Client.Open(h)) }

package native

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core"
)

// Pty runs terminals, followed in the background.
type Pty struct{ *core.Pty }

// Terminal is a running terminal. Its output goes to OnPTY as bytes.
type Terminal struct {
	*Process
	pty *core.Pty
}

// Create starts a terminal and returns once it runs; ctx bounds the start alone.
// It has no timeout unless one is given.
func (p *Pty) Create(ctx context.Context, o core.PtyOptions) (*Terminal, error) {
	return p.terminal(ctx, o.RunOptions, func(ctx context.Context, run core.RunOptions) (*core.CommandResult, error) {
		o.RunOptions = run
		return p.Follow(ctx, o)
	})
}

// Attach follows a terminal that is already running.
func (p *Pty) Attach(ctx context.Context, sel core.Selector, o core.RunOptions) (*Terminal, error) {
	return p.terminal(ctx, o, func(ctx context.Context, o core.RunOptions) (*core.CommandResult, error) {
		return p.FollowRunning(ctx, sel, o)
	})
}

func (p *Pty) terminal(ctx context.Context, o core.RunOptions, long func(context.Context, core.RunOptions) (*core.CommandResult, error)) (*Terminal, error) {
	o.DiscardOutput = true
	process, err := follow(ctx, p.Pty, o, long)
	if err != nil {
		return nil, err
	}
	return &Terminal{process, p.Pty}, nil
}

// SendInput types into the terminal.
func (t *Terminal) SendInput(ctx context.Context, b []byte) error {
	return t.pty.SendInput(ctx, t.sel, b)
}

// Resize tells the terminal its size.
func (t *Terminal) Resize(ctx context.Context, size core.Size) error {
	return t.pty.Resize(ctx, t.sel, size)
}

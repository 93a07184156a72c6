package core

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// Pty runs interactive terminals in one sandbox.
type Pty struct{ s *Sandbox }

// Size of a terminal, in characters.
type Size = plane.Size

// PtyOptions shape a terminal.
type PtyOptions struct {
	Size Size
	Argv []string // nil = an interactive login shell
	RunOptions
}

// Follow starts a terminal and follows it to its end; its output goes to OnPTY
// as bytes. Cancelling ctx is as with Commands.Follow. TERM, LANG and LC_ALL have defaults that
// Envs overrides (e2b.md 4.2).
func (p *Pty) Follow(ctx context.Context, o PtyOptions) (*CommandResult, error) {
	if err := p.s.client.need(capability.PTY); err != nil {
		return nil, err
	}
	if err := checkSize(o.Size); err != nil {
		return nil, err
	}
	if o.Argv == nil {
		o.Argv = []string{"/bin/bash", "-i", "-l"}
	}
	if err := checkArguments(o.Argv); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	p.s.named(&o.RunOptions)
	spec := plane.StartSpec{Cmd: o.Argv[0], Args: o.Argv[1:], Envs: terminalEnvs(o.Envs), Cwd: o.Cwd, User: o.User, Tag: o.Tag, PTY: &o.Size}
	return p.s.follow(ctx, &o.RunOptions, background, plane.Selector{Tag: o.Tag}, func(watch plane.Watch, sink plane.Sink) (*plane.End, error) {
		return p.s.data.Start(ctx, spec, watch, sink)
	})
}

func terminalEnvs(envs map[string]string) map[string]string {
	all := map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
	for k, v := range envs {
		all[k] = v
	}
	return all
}

func checkSize(s Size) error {
	if s.Cols == 0 || s.Rows == 0 || s.Cols > 65535 || s.Rows > 65535 {
		return fault.InvalidArgument("%s and %s must be from 1 to 65535, not %dx%d", fault.Option("cols"), fault.Option("rows"), s.Cols, s.Rows)
	}
	return nil
}

// FollowRunning attaches to a terminal that is already running.
func (p *Pty) FollowRunning(ctx context.Context, sel Selector, o RunOptions) (*CommandResult, error) {
	return p.s.Commands.FollowRunning(ctx, sel, o)
}

// SendInput types into a terminal.
func (p *Pty) SendInput(ctx context.Context, sel Selector, b []byte) error {
	if err := p.on(sel); err != nil {
		return err
	}
	return cancelled(ctx, p.s.data.SendInput(ctx, sel, true, b))
}

// StreamInput types what next gives, in one call, until io.EOF.
func (p *Pty) StreamInput(ctx context.Context, sel Selector, next func(context.Context) ([]byte, error)) error {
	if err := p.on(sel); err != nil {
		return err
	}
	return cancelled(ctx, p.s.data.StreamInput(ctx, sel, true, next))
}

// Resize tells a terminal its size.
func (p *Pty) Resize(ctx context.Context, sel Selector, size Size) error {
	if err := p.on(sel); err != nil {
		return err
	}
	if err := checkSize(size); err != nil {
		return err
	}
	return cancelled(ctx, p.s.data.Resize(ctx, sel, size))
}

// Kill ends a terminal with SIGKILL; false when there is none.
func (p *Pty) Kill(ctx context.Context, sel Selector) (bool, error) {
	if err := p.on(sel); err != nil {
		return false, err
	}
	return p.s.signal(ctx, sel, SIGKILL)
}

func (p *Pty) on(sel Selector) error {
	if err := p.s.client.need(capability.PTY); err != nil {
		return err
	}
	return checkSelector(sel)
}

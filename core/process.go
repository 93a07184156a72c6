package core

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// Selector names a running process, by PID or else by Tag.
type Selector = plane.Selector

// ProcessInfo is one entry of a process list.
type ProcessInfo = plane.ProcessInfo

// Signal is a signal that a sandbox delivers.
type Signal = plane.Signal

// The signals of E2B's envd.
const (
	SIGKILL = plane.SIGKILL
	SIGTERM = plane.SIGTERM
)

// FollowRunning attaches to a running process and follows it to its end: only output from now on comes.
// Cancelling ctx detaches, whatever the cause. Errors: E3000 when there is no such process.
func (c *Commands) FollowRunning(ctx context.Context, sel Selector, o RunOptions) (*CommandResult, error) {
	if err := c.s.client.need(capability.ExecAttach); err != nil {
		return nil, err
	}
	if err := checkSelector(sel); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return c.s.follow(ctx, &o, running, sel, func(watch plane.Watch, sink plane.Sink) (*plane.End, error) {
		return c.s.data.Attach(ctx, sel, watch, sink)
	})
}

func checkSelector(sel Selector) error {
	if sel.PID == 0 && sel.Tag == "" {
		return fault.InvalidArgument("a process needs a %s or a %s", fault.Option("pid"), fault.Option("tag"))
	}
	return checkText("tag", sel.Tag)
}

// List gives the running processes. Tag is what users named them.
func (c *Commands) List(ctx context.Context) ([]ProcessInfo, error) {
	list, err := c.s.data.List(ctx)
	if list == nil {
		list = []ProcessInfo{}
	}
	for i := range list {
		if isHidden(list[i].Tag) {
			list[i].Tag = ""
		}
	}
	return list, cancelled(ctx, err)
}

// SendStdin writes to a process's stdin, which must have been left open.
func (c *Commands) SendStdin(ctx context.Context, sel Selector, b []byte) error {
	if err := c.input(sel); err != nil {
		return err
	}
	return inputFailure(ctx, c.s.data.SendInput(ctx, sel, false, b))
}

// StreamStdin writes what next gives, in one call, until io.EOF. It returns
// when the sandbox has taken everything.
func (c *Commands) StreamStdin(ctx context.Context, sel Selector, next func(context.Context) ([]byte, error)) error {
	if err := c.input(sel); err != nil {
		return err
	}
	return inputFailure(ctx, c.s.data.StreamInput(ctx, sel, false, next))
}

// CloseStdin ends a process's stdin. Twice is fine.
func (c *Commands) CloseStdin(ctx context.Context, sel Selector) error {
	if err := c.input(sel); err != nil {
		return err
	}
	return inputFailure(ctx, c.s.data.CloseStdin(ctx, sel))
}

func (c *Commands) input(sel Selector) error {
	if err := c.s.client.need(capability.ExecStdin); err != nil {
		return err
	}
	return checkSelector(sel)
}

func inputFailure(ctx context.Context, err error) error {
	if e := fault.As(err); e != nil && e.Code == fault.CodeExecution && e.Suggestion == "" {
		e.Suggestion = "is the process still running, and was it started with stdin on?"
	}
	return cancelled(ctx, err)
}

// Signal signals a process (with our own daemon its whole group); false when
// there is no such process.
func (c *Commands) Signal(ctx context.Context, sel Selector, sig Signal) (bool, error) {
	if err := c.s.client.need(capability.ExecSignal); err != nil {
		return false, err
	}
	if err := checkSelector(sel); err != nil {
		return false, err
	}
	return c.s.signal(ctx, sel, sig)
}

// Kill ends a process with SIGKILL; false when there is no such process.
func (c *Commands) Kill(ctx context.Context, sel Selector) (bool, error) {
	return c.Signal(ctx, sel, SIGKILL)
}

func (s *Sandbox) signal(ctx context.Context, sel Selector, sig Signal) (bool, error) {
	err := s.data.Signal(ctx, sel, sig)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, cancelled(ctx, err)
}

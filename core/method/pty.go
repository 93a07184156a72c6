package method

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core"
)

// PtyCreate starts a terminal and follows it, without a time limit unless one is
// given. A cancel before it has started kills it; then it has a life of its own.
type PtyCreate struct {
	Cols             uint32            `json:"cols" arg:"1"`                 // its width in characters
	Rows             uint32            `json:"rows" arg:"2"`                 // its height in characters
	Argv             []string          `json:"argv,omitempty"`               // default: an interactive login shell
	Cwd              string            `json:"cwd,omitempty"`                // default: the user's home
	Envs             map[string]string `json:"envs,omitempty"`               // over the sandbox's own; TERM, LANG and LC_ALL have defaults
	User             string            `json:"user,omitempty"`               // default: the sandbox's user
	Tag              string            `json:"tag,omitempty"`                // a name to attach by, instead of the pid
	TimeoutMS        *int64            `json:"timeout_ms,omitempty"`         // how long it may run; default and 0: no limit
	IdleTimeoutMS    *int64            `json:"idle_timeout_ms,omitempty"`    // how long the sandbox may show no sign of life; 0 = no limit
	RequestTimeoutMS *int64            `json:"request_timeout_ms,omitempty"` // how long the start may take; 0 = no limit
	Check            bool              `json:"check,omitempty"`              // make a non-zero exit the error E3002
}

func (p *PtyCreate) options(c *Call) core.PtyOptions {
	o := core.PtyOptions{Size: core.Size{Cols: p.Cols, Rows: p.Rows}, Argv: p.Argv, RunOptions: following(c)}
	o.Cwd, o.Envs, o.User, o.Tag, o.Check = p.Cwd, p.Envs, p.User, p.Tag, p.Check
	o.Timeout, o.IdleTimeout, o.RequestTimeout = duration(p.TimeoutMS), duration(p.IdleTimeoutMS), duration(p.RequestTimeoutMS)
	return o
}

// PtyConnect follows a terminal that is already running: only output from now on
// comes. A cancel leaves it alone. Errors: E3000 when there is no such process.
type PtyConnect struct{ FollowOptions }

// PtySendInput types into a terminal. Errors: E3000 when there is no such process.
type PtySendInput struct{ ProcessSelector }

// PtyStreamInput types into a terminal piece by piece, in one call. Errors: E3000
// when there is no such process.
type PtyStreamInput struct{ ProcessSelector }

// PtyResize tells a terminal its size. Errors: E3000 when there is no such process.
type PtyResize struct {
	ProcessSelector
	Cols uint32 `json:"cols"` // its width in characters
	Rows uint32 `json:"rows"` // its height in characters
}

// PtyKill ends a terminal with SIGKILL; false when there is none.
type PtyKill struct{ ProcessSelector }

func pty() []Method {
	return []Method{
		shaped("pty.create", Follow, func(ctx context.Context, c *Call, s *core.Sandbox, p *PtyCreate) (*CommandEnd, error) {
			return ended(s.Pty.Follow(ctx, p.options(c)))
		}),
		shaped("pty.connect", Follow, func(ctx context.Context, c *Call, s *core.Sandbox, p *PtyConnect) (*CommandEnd, error) {
			return ended(s.Pty.FollowRunning(ctx, p.selector(), p.options(c)))
		}),
		shaped("pty.send_input", Send, func(ctx context.Context, c *Call, s *core.Sandbox, p *PtySendInput) (none, error) {
			return nil, s.Pty.SendInput(ctx, p.selector(), c.Attached)
		}),
		shaped("pty.stream_input", Stream, func(ctx context.Context, c *Call, s *core.Sandbox, p *PtyStreamInput) (none, error) {
			return nil, s.Pty.StreamInput(ctx, p.selector(), c.Caller.Input)
		}),
		onSandbox("pty.resize", func(ctx context.Context, s *core.Sandbox, p *PtyResize) (none, error) {
			return nil, s.Pty.Resize(ctx, p.selector(), core.Size{Cols: p.Cols, Rows: p.Rows})
		}),
		onSandbox("pty.kill", func(ctx context.Context, s *core.Sandbox, p *PtyKill) (bool, error) {
			return s.Pty.Kill(ctx, p.selector())
		}),
	}
}

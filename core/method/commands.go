package method

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// CommandOptions are what all ways to run a command share.
type CommandOptions struct {
	Command          string            `json:"command,omitempty" arg:"1"`    // a shell command line; either this or argv
	Argv             []string          `json:"argv,omitempty"`               // a program with exactly these arguments, without a shell
	Cwd              string            `json:"cwd,omitempty"`                // default: the user's home
	Envs             map[string]string `json:"envs,omitempty"`               // over the sandbox's own
	User             string            `json:"user,omitempty"`               // default: the sandbox's user
	Tag              string            `json:"tag,omitempty"`                // a name to attach by, instead of the pid
	Stdin            bool              `json:"stdin,omitempty"`              // leave stdin open for send_stdin; default: /dev/null
	TimeoutMS        *int64            `json:"timeout_ms,omitempty"`         // how long the command may run; 0 = no limit
	IdleTimeoutMS    *int64            `json:"idle_timeout_ms,omitempty"`    // how long the sandbox may show no sign of life; a silent command is fine; 0 = no limit
	RequestTimeoutMS *int64            `json:"request_timeout_ms,omitempty"` // how long the start may take; 0 = no limit
	Check            bool              `json:"check,omitempty"`              // make a non-zero exit the error E3002
}

// CommandsRun runs a command and waits for its end, for 60 s unless told
// otherwise. A cancel kills it. A non-zero exit is a result. Errors: E3001
// timeout, E3005 connection lost, both with the output so far; E3002 with check.
type CommandsRun struct{ CommandOptions }

// CommandsStart starts a command and follows it, without a time limit unless one
// is given. A cancel before it has started kills it; then it has a life of its own.
type CommandsStart struct{ CommandOptions }

// ProcessSelector names a running process.
type ProcessSelector struct {
	PID uint32 `json:"pid,omitempty" arg:"1"` // its process id; either this or tag
	Tag string `json:"tag,omitempty"`         // the name that it was started with
}

func (p *ProcessSelector) selector() core.Selector { return core.Selector{PID: p.PID, Tag: p.Tag} }

// FollowOptions are what attaching to a process takes.
type FollowOptions struct {
	ProcessSelector
	TimeoutMS        *int64 `json:"timeout_ms,omitempty"`         // how long the process may run from now; default and 0: no limit
	IdleTimeoutMS    *int64 `json:"idle_timeout_ms,omitempty"`    // how long the sandbox may show no sign of life; 0 = no limit
	RequestTimeoutMS *int64 `json:"request_timeout_ms,omitempty"` // how long the start may take; 0 = no limit
	Check            bool   `json:"check,omitempty"`              // make a non-zero exit the error E3002
}

func (p *FollowOptions) options(c *Call) core.RunOptions {
	o := following(c)
	o.Timeout, o.IdleTimeout, o.RequestTimeout, o.Check = duration(p.TimeoutMS), duration(p.IdleTimeoutMS), duration(p.RequestTimeoutMS), p.Check
	return o
}

// CommandsConnect follows a process that is already running: only output from
// now on comes. A cancel leaves it alone. Errors: E3000 when there is no such
// process.
type CommandsConnect struct{ FollowOptions }

// CommandsList gives the running processes.
type CommandsList struct{}

// CommandsKill ends a process with SIGKILL; false when there is no such process.
type CommandsKill struct{ ProcessSelector }

// CommandsSendSignal signals a process; false when there is no such process.
type CommandsSendSignal struct {
	ProcessSelector
	Signal int `json:"signal" arg:"2"` // its number: 9 kills, 15 asks to end
}

// CommandsSendStdin writes to a process's stdin, which must have been left open.
// Errors: E3000 when it was not, or there is no such process.
type CommandsSendStdin struct{ ProcessSelector }

// CommandsStreamStdin writes to a process's stdin piece by piece, in one call,
// and returns when the sandbox has taken everything. Errors: E3000 as send_stdin.
type CommandsStreamStdin struct{ ProcessSelector }

// CommandsCloseStdin ends a process's stdin. Twice is fine. Errors: E3000 as
// send_stdin.
type CommandsCloseStdin struct{ ProcessSelector }

// CommandEnd is how a command ended. Its output came before.
type CommandEnd struct {
	ExitCode        int    `json:"exit_code"`         // 128+n when killed by signal n
	Signal          string `json:"signal,omitempty"`  // killed, terminated, ...; absent when it exited by itself
	Error           string `json:"error,omitempty"`   // the sandbox's words about the end
	ExecutionTimeMS int64  `json:"execution_time_ms"` // from the call to the end
}

// Ended is r without its output.
func Ended(r *core.CommandResult) *CommandEnd {
	if r == nil {
		return nil
	}
	return &CommandEnd{ExitCode: r.ExitCode, Signal: r.Signal, Error: r.ErrorText, ExecutionTimeMS: r.ExecutionTime.Milliseconds()}
}

func commands() []Method {
	return []Method{
		shaped("commands.run", Follow, func(ctx context.Context, c *Call, s *core.Sandbox, p *CommandsRun) (*CommandEnd, error) {
			argv, err := p.argv()
			if err != nil {
				return nil, err
			}
			return ended(s.Commands.Exec(ctx, argv, p.options(c)))
		}).made(func() any { return new(CommandsRun) }),
		shaped("commands.start", Follow, func(ctx context.Context, c *Call, s *core.Sandbox, p *CommandsStart) (*CommandEnd, error) {
			argv, err := p.argv()
			if err != nil {
				return nil, err
			}
			return ended(s.Commands.Follow(ctx, argv, p.options(c)))
		}),
		shaped("commands.connect", Follow, func(ctx context.Context, c *Call, s *core.Sandbox, p *CommandsConnect) (*CommandEnd, error) {
			return ended(s.Commands.FollowRunning(ctx, p.selector(), p.options(c)))
		}),
		onSandbox("commands.list", func(ctx context.Context, s *core.Sandbox, _ *CommandsList) ([]core.ProcessInfo, error) {
			return s.Commands.List(ctx)
		}),
		onSandbox("commands.kill", func(ctx context.Context, s *core.Sandbox, p *CommandsKill) (bool, error) {
			return s.Commands.Kill(ctx, p.selector())
		}),
		onSandbox("commands.send_signal", func(ctx context.Context, s *core.Sandbox, p *CommandsSendSignal) (bool, error) {
			return s.Commands.Signal(ctx, p.selector(), core.Signal(p.Signal))
		}),
		shaped("commands.send_stdin", Send, func(ctx context.Context, c *Call, s *core.Sandbox, p *CommandsSendStdin) (none, error) {
			return nil, s.Commands.SendStdin(ctx, p.selector(), c.Attached)
		}),
		shaped("commands.stream_stdin", Stream, func(ctx context.Context, c *Call, s *core.Sandbox, p *CommandsStreamStdin) (none, error) {
			return nil, s.Commands.StreamStdin(ctx, p.selector(), c.Caller.Input)
		}),
		onSandbox("commands.close_stdin", func(ctx context.Context, s *core.Sandbox, p *CommandsCloseStdin) (none, error) {
			return nil, s.Commands.CloseStdin(ctx, p.selector())
		}),
	}
}

func ended(r *core.CommandResult, err error) (*CommandEnd, error) { return Ended(r), err }

// argv is what is to run.
func (p *CommandOptions) argv() ([]string, error) {
	if p.Argv == nil {
		return core.Shell(p.Command), nil
	}
	if p.Command != "" {
		return nil, fault.InvalidArgument("%s and %s exclude each other", fault.Option("command"), fault.Option("argv"))
	}
	return p.Argv, nil
}

func (p *CommandOptions) options(c *Call) core.RunOptions {
	o := following(c)
	o.Cwd, o.Envs, o.User, o.Tag, o.Stdin, o.Check = p.Cwd, p.Envs, p.User, p.Tag, p.Stdin, p.Check
	o.Timeout, o.IdleTimeout, o.RequestTimeout = duration(p.TimeoutMS), duration(p.IdleTimeoutMS), duration(p.RequestTimeoutMS)
	return o
}

// started is the event of a process that runs.
type started struct {
	PID uint32 `json:"pid"`
}

// following sends to the caller what a process does; keeping it is the caller's.
func following(c *Call) core.RunOptions {
	return core.RunOptions{
		DiscardOutput: true,
		OnStart:       func(pid uint32) { c.Caller.Event("started", started{pid}) },
		OnStdout:      func(b []byte) { c.Caller.Output(plane.Stdout, b) },
		OnStderr:      func(b []byte) { c.Caller.Output(plane.Stderr, b) },
		OnPTY:         func(b []byte) { c.Caller.Output(plane.PTY, b) },
	}
}

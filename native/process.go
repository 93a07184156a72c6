package native

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/agent-sandbox/agent-sandbox/core"
)

// Commands runs commands. Beside core's blocking calls it starts processes that
// are followed in the background.
type Commands struct{ *core.Commands }

// Process is a command or terminal that is followed in the background. Its
// callbacks run there, one at a time; output waits for them and is never
// dropped. It is safe for concurrent use.
type Process struct {
	sel     core.Selector
	control processControl
	cancel  context.CancelCauseFunc
	done    chan struct{}
	result  *core.CommandResult
	err     error
	left    atomic.Bool // disconnected: callbacks are over
}

// processControl is what core.Commands and core.Pty share.
type processControl interface {
	Kill(ctx context.Context, sel core.Selector) (bool, error)
}

// Start runs a shell command line in the background and returns once it runs.
// It has no timeout unless one is given. ctx bounds the start alone.
func (c *Commands) Start(ctx context.Context, command string, o core.RunOptions) (*Process, error) {
	return c.StartExec(ctx, []string{"/bin/bash", "-l", "-c", command}, o)
}

// StartExec is Start for a program with exactly these arguments, without a shell.
func (c *Commands) StartExec(ctx context.Context, argv []string, o core.RunOptions) (*Process, error) {
	return follow(ctx, c.Commands, o, func(ctx context.Context, o core.RunOptions) (*core.CommandResult, error) {
		return c.Follow(ctx, argv, o)
	})
}

// Attach follows a process that is already running: only output from now on comes.
func (c *Commands) Attach(ctx context.Context, sel core.Selector, o core.RunOptions) (*Process, error) {
	return follow(ctx, c.Commands, o, func(ctx context.Context, o core.RunOptions) (*core.CommandResult, error) {
		return c.FollowRunning(ctx, sel, o)
	})
}

// follow runs the long operation in a goroutine and waits for the start event.
func follow(ctx context.Context, control processControl, o core.RunOptions, long func(context.Context, core.RunOptions) (*core.CommandResult, error)) (*Process, error) {
	pump, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	p := &Process{control: control, cancel: cancel, done: make(chan struct{})}
	started := make(chan uint32, 1)
	o = p.guarded(o, started)
	go func() {
		defer close(p.done)
		defer cancel(nil)
		p.result, p.err = long(pump, o)
	}()
	select {
	case pid := <-started:
		p.sel = core.Selector{PID: pid}
		return p, nil
	case <-p.done:
		return p.ended(started)
	case <-ctx.Done():
		cancel(context.Cause(ctx))
		<-p.done
		if p.err == nil {
			return nil, context.Cause(ctx)
		}
		return nil, p.err
	}
}

// ended: the operation is over; it may have started and ended at once.
func (p *Process) ended(started chan uint32) (*Process, error) {
	select {
	case pid := <-started:
		p.sel = core.Selector{PID: pid}
		return p, nil
	default:
		return nil, p.err
	}
}

// guarded wraps the callbacks: none runs after Disconnect.
func (p *Process) guarded(o core.RunOptions, started chan uint32) core.RunOptions {
	onStart := o.OnStart
	o.OnStart = func(pid uint32) {
		started <- pid
		if onStart != nil {
			onStart(pid)
		}
	}
	o.OnStdout, o.OnStderr, o.OnPTY = guard(p, o.OnStdout), guard(p, o.OnStderr), guard(p, o.OnPTY)
	o.OnStdoutText, o.OnStderrText = guard(p, o.OnStdoutText), guard(p, o.OnStderrText)
	return o
}

func guard[T any](p *Process, f func(T)) func(T) {
	if f == nil {
		return nil
	}
	return func(v T) {
		if !p.left.Load() {
			f(v)
		}
	}
}

// PID is the process's number inside the sandbox.
func (p *Process) PID() uint32 { return p.sel.PID }

// Wait waits for the end. When ctx ends first only the waiting ends. Errors are
// those of core.Commands.Run; after Disconnect, E5006.
func (p *Process) Wait(ctx context.Context) (*core.CommandResult, error) {
	select {
	case <-p.done:
		return p.result, p.err
	default:
	}
	select {
	case <-p.done:
		return p.result, p.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Done is closed when the end is known.
func (p *Process) Done() <-chan struct{} { return p.done }

// Disconnect stops following; the process lives on. No callback begins after it
// returns. It may be called from inside a callback.
func (p *Process) Disconnect() {
	p.left.Store(true)
	p.cancel(core.ErrDetach)
}

// Kill ends the process with SIGKILL; false when it had ended already.
func (p *Process) Kill(ctx context.Context) (bool, error) { return p.control.Kill(ctx, p.sel) }

// Stdio connects a command with the caller's streams; nil ones are /dev/null.
type Stdio struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Pipe runs a program with its streams connected and waits for its end, whether
// or not Stdin has ended by then. Nothing is kept in memory. Cancelling ctx
// kills it; so does a writer that fails, whose error is returned.
func (c *Commands) Pipe(ctx context.Context, argv []string, s Stdio, o core.RunOptions) (*core.CommandResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &piped{cancel: cancel}
	o.DiscardOutput, o.Stdin = true, s.Stdin != nil
	o.OnStdout, o.OnStderr = p.into(s.Stdout), p.into(s.Stderr)
	if s.Stdin != nil {
		onStart := o.OnStart
		o.OnStart = func(pid uint32) {
			if onStart != nil {
				onStart(pid)
			}
			go c.feed(ctx, core.Selector{PID: pid}, s.Stdin)
		}
	}
	result, err := c.Exec(ctx, argv, o)
	if p.failed != nil {
		return result, p.failed
	}
	return result, err
}

type piped struct {
	cancel context.CancelCauseFunc
	failed error
}

func (p *piped) into(w io.Writer) func([]byte) {
	if w == nil {
		return nil
	}
	return func(b []byte) {
		if p.failed != nil {
			return
		}
		if _, err := w.Write(b); err != nil {
			p.failed = err
			p.cancel(err)
		}
	}
}

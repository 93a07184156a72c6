// Package attend connects a command inside a sandbox with the streams, signals
// and terminal of this program.
package attend

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Command is a command to run and attend.
type Command struct {
	Sandbox *native.Sandbox
	Argv    []string
	Options core.RunOptions
	Stdin   io.Reader // nil = /dev/null inside
	Stdout  io.Writer
	Stderr  io.Writer
	Signals *Signals
}

// InterruptedError says that a signal to this program ended the attending, and
// with it the command.
type InterruptedError struct{ Signal os.Signal }

// Error names the signal.
func (e *InterruptedError) Error() string { return "ended by a signal: " + e.Signal.String() }

// Run runs the command to its end. The first signal goes to it as SIGTERM, the
// second kills it: *InterruptedError. Errors otherwise as native's Pipe.
func (c *Command) Run(ctx context.Context) (*core.CommandResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var pid atomic.Uint32
	o := c.Options
	o.OnStart = pid.Store
	done := make(chan struct{})
	defer close(done)
	go c.forward(ctx, cancel, &pid, done)
	result, err := c.Sandbox.Commands.Pipe(ctx, c.Argv, native.Stdio{Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr}, o)
	return result, interrupted(ctx, err)
}

// interrupted prefers the signal over what it led to.
func interrupted(ctx context.Context, err error) error {
	var by *InterruptedError
	if err != nil && errors.As(context.Cause(ctx), &by) {
		return by
	}
	return err
}

func (c *Command) forward(ctx context.Context, cancel context.CancelCauseFunc, pid *atomic.Uint32, done <-chan struct{}) {
	for told := false; ; told = true {
		select {
		case <-done:
			return
		case s := <-c.Signals.C:
			if told || pid.Load() == 0 {
				cancel(&InterruptedError{s})
				return
			}
			go c.terminate(ctx, pid.Load())
		}
	}
}

// signalClock bounds the delivery of a signal.
const signalClock = 5 * time.Second

// terminate is best effort: whoever is not heard signals again.
func (c *Command) terminate(ctx context.Context, pid uint32) {
	ctx, cancel := context.WithTimeout(ctx, signalClock)
	defer cancel()
	_, _ = c.Sandbox.Commands.Signal(ctx, core.Selector{PID: pid}, core.SIGTERM)
}

// Package attend connects a command inside a sandbox with the streams, signals
// and terminal of this program.
package attend

import (
	"context"
	"io"
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
	return result, Interrupted(ctx, err)
}

func (c *Command) forward(ctx context.Context, cancel context.CancelCauseFunc, pid *atomic.Uint32, done <-chan struct{}) {
	for told := false; ; told = true {
		select {
		case <-done:
			return
		case s := <-c.Signals.c:
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

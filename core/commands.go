package core

import (
	"context"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// Commands runs commands in one sandbox.
type Commands struct{ s *Sandbox }

// DefaultCommandTimeout is the command clock of a foreground run.
const DefaultCommandTimeout = 60 * time.Second

// RunOptions shape one command. The zero value is a foreground run with stdin
// from /dev/null, for at most DefaultCommandTimeout, its output kept.
type RunOptions struct {
	Cwd  string            // "" = the user's home
	Envs map[string]string // over the sandbox's own
	User string            // "" = the sandbox's default user
	Tag  string            // a name to attach by, instead of the pid
	// Stdin leaves stdin open for SendStdin; otherwise it is /dev/null.
	Stdin bool
	// Timeout is how long the command may run; 0 = no limit; nil = 60 s for a
	// foreground run, no limit for a background one and for attaching.
	Timeout *time.Duration
	// IdleTimeout is how long the sandbox may show no sign of life; 0 = no
	// limit; nil = the client's (60 s). It is not about output: a silent command
	// is fine.
	IdleTimeout *time.Duration
	// RequestTimeout is how long the start may take; 0 = no limit; nil = the client's.
	RequestTimeout *time.Duration
	// Check makes a non-zero exit the error E3002, which carries the result.
	Check bool
	// DiscardOutput keeps nothing in memory (retain_output off); callbacks still
	// get everything.
	DiscardOutput bool

	// OnStart gets the pid once the process runs.
	OnStart func(pid uint32)
	// Callbacks run one at a time, in the order of the output; output waits while
	// one runs. Bytes are valid until the callback returns.
	OnStdout     func(b []byte)
	OnStderr     func(b []byte)
	OnPTY        func(b []byte)
	OnStdoutText func(text string) // whole characters
	OnStderrText func(text string)
}

// Run runs a shell command line (bash, as a login shell) and waits for its end.
// Cancelling ctx kills it. Errors: E3001 timeout, E3005 connection lost, both
// with the output so far; E3002 with Check.
func (c *Commands) Run(ctx context.Context, command string, o RunOptions) (*CommandResult, error) {
	return c.Exec(ctx, Shell(command), o)
}

// Shell is the argv of a shell command line: bash, as a login shell.
func Shell(command string) []string { return []string{"/bin/bash", "-l", "-c", command} }

// Exec runs a program with exactly these arguments, without a shell, and waits
// for its end.
func (c *Commands) Exec(ctx context.Context, argv []string, o RunOptions) (*CommandResult, error) {
	if o.Timeout == nil {
		limit := DefaultCommandTimeout
		o.Timeout = &limit
	}
	return c.start(ctx, argv, o, foreground)
}

// Follow starts a program and follows it to its end, in the background: it lives on
// when ctx ends with the cause ErrDetach, or when the stream does. Any other cancel
// kills it: before the start has come, nobody could do so later. There is no timeout
// unless one is given.
func (c *Commands) Follow(ctx context.Context, argv []string, o RunOptions) (*CommandResult, error) {
	return c.start(ctx, argv, o, background)
}

// start is the one long operation behind every form of running.
func (c *Commands) start(ctx context.Context, argv []string, o RunOptions, keep keeping) (*CommandResult, error) {
	if err := c.check(argv, &o); err != nil {
		return nil, err
	}
	c.s.named(&o)
	spec := plane.StartSpec{Cmd: argv[0], Args: argv[1:], Envs: o.Envs, Cwd: o.Cwd, User: o.User, Tag: o.Tag, Stdin: o.Stdin}
	return c.s.follow(ctx, &o, keep, plane.Selector{Tag: o.Tag}, func(watch plane.Watch, sink plane.Sink) (*plane.End, error) {
		return c.s.data.Start(ctx, spec, watch, sink)
	})
}

// follow runs one stream and turns its end into a result.
func (s *Sandbox) follow(ctx context.Context, o *RunOptions, keep keeping, who plane.Selector, stream func(plane.Watch, plane.Sink) (*plane.End, error)) (*CommandResult, error) {
	sink := &collector{now: s.client.host.Now, o: o, began: s.client.host.Now()}
	fate := &fate{s: s, keep: keep, who: who}
	watch := s.watch(o)
	watch.Kill = fate.fired
	end, err := stream(watch, sink)
	result := sink.result()
	if err == nil {
		err = result.ended(end)
	}
	if err != nil {
		fate.abandoned(ctx, sink.pid)
		return nil, s.incomplete(ctx, err, sink.pid, result)
	}
	if o.Check && !result.OK() {
		e := fault.New(fault.CodeCommandExit, "the command exited with %d", result.ExitCode)
		if result.Signal != "" {
			e = fault.New(fault.CodeCommandExit, "the command was killed by a signal (%s)", result.Signal)
		}
		if why, ok := strings.CutPrefix(end.Error, end.Status+": "); ok {
			_ = e.Say("%s: %s", e.Message, shorten(why))
		}
		e.Partial, e.PID = result, sink.pid
		return result, e
	}
	return result, nil
}

// incomplete attaches what has come to the error.
func (s *Sandbox) incomplete(ctx context.Context, err error, pid uint32, partial *CommandResult) error {
	err = about(cancelled(ctx, err), s.ID())
	if e := fault.As(err); e != nil {
		if partial.ExitCode == 0 {
			partial.ExitCode = -1 // not known: never 0
		}
		e.Partial = partial
		if e.PID == 0 {
			e.PID = pid
		}
	}
	return err
}

func (s *Sandbox) watch(o *RunOptions) plane.Watch {
	return plane.Watch{
		Command: orElse(o.Timeout, 0),
		Idle:    orElse(o.IdleTimeout, s.client.settings.IdleTimeout),
		Request: orElse(o.RequestTimeout, s.client.settings.RequestTimeout),
	}
}

func orElse(d *time.Duration, def time.Duration) time.Duration {
	if d == nil {
		return def
	}
	return *d
}

func (c *Commands) check(argv []string, o *RunOptions) error {
	needs := []capability.Capability{capability.Exec}
	if o.Stdin {
		needs = append(needs, capability.ExecStdin)
	}
	if o.User != "" {
		needs = append(needs, capability.ExecUser)
	}
	if err := c.s.client.need(needs...); err != nil {
		return err
	}
	if err := checkArguments(argv); err != nil {
		return err
	}
	return o.check()
}

func (o *RunOptions) check() error {
	for _, err := range []error{
		checkTimeout("timeout_ms", o.Timeout), checkTimeout("idle_timeout_ms", o.IdleTimeout), checkTimeout("request_timeout_ms", o.RequestTimeout),
		checkEnvs("envs", o.Envs), checkText("cwd", o.Cwd), checkText("tag", o.Tag), checkUser(o.User),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

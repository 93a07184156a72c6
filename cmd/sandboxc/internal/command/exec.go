package command

import (
	"context"
	"fmt"
	"os"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/attend"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Exec is `sandboxc exec`.
type Exec struct {
	Process
	ID      string   `arg:"" help:"The sandbox."`
	Command []string `arg:"" passthrough:"partial" name:"cmd" help:"The command and its arguments, exactly as given; no shell."`
}

// Help is shown below the usage.
func (*Exec) Help() string {
	return `Flags come before the command:  sandboxc exec ID [flags] [--] CMD ARG...

The exit code is the command's, 128 and the number of the signal that ended it, 124 after --timeout, 125 when sandboxc failed.
Ctrl-C asks the command to end (SIGTERM), a second one kills it.`
}

// Run runs the command.
func (e *Exec) Run(a *App) error {
	options, err := e.options()
	if err != nil {
		return err
	}
	return a.attending(e.ID, func(sbx *native.Sandbox) error {
		job := &job{app: a, sandbox: sbx, argv: argvOf(e.Command), options: options, process: &e.Process, how: func(file string) string {
			return fmt.Sprintf("copy it with sandboxc cp %s %s:", file, sbx.ID())
		}}
		return job.finish(job.run(a.ctx))
	})
}

// attending takes a sandbox under the signals of this program and leaves them to
// do.
func (a *App) attending(id string, do func(*native.Sandbox) error) error {
	var client *native.Client
	var sbx *native.Sandbox
	err := a.starting(func(ctx context.Context) (err error) {
		if client, err = a.client(ctx, nil, nil); err != nil {
			return err
		}
		sbx, err = client.Connect(ctx, id, core.ConnectOptions{})
		return err
	})
	if client != nil {
		defer func() { _ = client.Close() }()
	}
	if err != nil {
		return err
	}
	a.trace("%s", sbx)
	return do(sbx)
}

// Shell is `sandboxc shell`.
type Shell struct {
	ID      string   `arg:"" help:"The sandbox."`
	Env     []string `short:"e" sep:"none" placeholder:"K[=V]" help:"A variable for the shell."`
	Workdir string   `short:"w" placeholder:"DIR" help:"Directory to start in. Default: the user's home."`
	User    string   `short:"u" placeholder:"NAME" help:"User to run as. Default: user."`
	Command []string `arg:"" optional:"" passthrough:"partial" name:"cmd" help:"What to run instead of a login shell."`
}

// Run opens it.
func (s *Shell) Run(a *App) error {
	if a.JSON {
		return fault.InvalidArgument("a shell has no result to print as JSON").Suggest("use sandboxc exec --json")
	}
	envs, err := parseEnvs(s.Env, os.LookupEnv)
	if err != nil {
		return err
	}
	return a.attending(s.ID, func(sbx *native.Sandbox) error {
		t := &attend.Terminal{
			Sandbox: sbx, Argv: argvOf(s.Command), Options: core.RunOptions{Cwd: s.Workdir, User: s.User, Envs: envs},
			Stdin: os.Stdin, Stdout: os.Stdout, Output: os.Stdout, Signals: a.signals,
		}
		if len(t.Argv) == 0 {
			t.Argv = nil
		}
		withTERM(&t.Options)
		result, err := t.Run(a.ctx)
		if err != nil {
			return err
		}
		if result.ExitCode != 0 {
			return output.Status(result.ExitCode)
		}
		return nil
	})
}

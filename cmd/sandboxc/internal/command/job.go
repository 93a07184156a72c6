package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/attend"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// job is one command of run or exec.
type job struct {
	app     *App
	sandbox *native.Sandbox
	argv    []string
	options core.RunOptions
	process *Process
	// how says how a file of this machine would get inside; nil says nothing.
	how func(file string) string

	out, err bytes.Buffer // with --json
	advice   string
}

// outcome is how a job ended.
type outcome struct {
	result *core.CommandResult
	err    error
}

// run runs the command to its end.
func (j *job) run(ctx context.Context) outcome {
	result, err := j.attend(ctx)
	if j.how != nil && (err != nil || result.ExitCode != 0) {
		code := 0
		if err == nil {
			code = result.ExitCode
		}
		j.advice = j.advise(ctx, code)
	}
	return outcome{result, err}
}

func (j *job) attend(ctx context.Context) (*core.CommandResult, error) {
	if j.process.TTY {
		return j.terminal(ctx)
	}
	c := &attend.Command{
		Sandbox: j.sandbox, Argv: j.argv, Options: j.options, Stdout: os.Stdout, Stderr: os.Stderr, Signals: j.app.signals,
	}
	if j.app.JSON {
		c.Stdout, c.Stderr = &j.out, &j.err
	}
	if j.process.Interactive || attend.Piped(os.Stdin) {
		c.Stdin = os.Stdin
	}
	return c.Run(ctx)
}

func (j *job) terminal(ctx context.Context) (*core.CommandResult, error) {
	t := &attend.Terminal{
		Sandbox: j.sandbox, Argv: j.argv, Options: j.options, Stdout: os.Stdout, Output: os.Stdout, Signals: j.app.signals,
	}
	if j.app.JSON {
		t.Output = io.Writer(&j.out)
	}
	if j.process.Interactive || attend.Piped(os.Stdin) || attend.IsTerminal(os.Stdin) {
		t.Stdin = os.Stdin
	}
	withTERM(&t.Options)
	return t.Run(ctx)
}

// withTERM tells the command what kind of terminal this is.
func withTERM(o *core.RunOptions) {
	kind := os.Getenv("TERM")
	if _, given := o.Envs["TERM"]; given || kind == "" || !attend.IsTerminal(os.Stdout) {
		return
	}
	envs := map[string]string{"TERM": kind}
	for k, v := range o.Envs {
		envs[k] = v
	}
	o.Envs = envs
}

// finish says how it ended, in the exit code and with --json in words.
func (j *job) finish(o outcome) error {
	if o.err != nil {
		return j.failed(o.err)
	}
	if j.app.JSON {
		if err := j.app.Line(j.report(o.result), ""); err != nil {
			return err
		}
	} else if j.advice != "" {
		j.app.Warn("%s", j.advice)
	}
	if o.result.ExitCode != 0 {
		return output.Status(o.result.ExitCode)
	}
	return nil
}

func (j *job) failed(err error) error {
	e := fault.As(err)
	if e == nil || errors.As(err, new(*attend.InterruptedError)) {
		return err
	}
	if partial, ok := e.Partial.(*core.CommandResult); ok {
		partial.StdoutBytes, partial.StderrBytes = j.out.Bytes(), j.err.Bytes()
	}
	if j.advice != "" {
		e.Suggestion = j.advice
	}
	return e
}

// report is a result as --json prints it.
func (j *job) report(r *core.CommandResult) any {
	r.StdoutBytes, r.StderrBytes = j.out.Bytes(), j.err.Bytes()
	return struct {
		Stdout        string  `json:"stdout"`
		Stderr        string  `json:"stderr"`
		ExitCode      int     `json:"exit_code"`
		Signal        string  `json:"signal,omitempty"`
		ExecutionTime float64 `json:"execution_time"` // seconds
		Error         string  `json:"error,omitempty"`
		Hint          string  `json:"hint,omitempty"`
		SandboxID     string  `json:"sandbox_id"`
		Isolation     string  `json:"isolation"`
	}{
		r.Stdout(), r.Stderr(), r.ExitCode, r.Signal, r.ExecutionTime.Seconds(), r.ErrorText, j.advice,
		j.sandbox.ID(), j.sandbox.Isolation(),
	}
}

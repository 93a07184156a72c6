package command

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/hosting"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Run is `sandboxc run` (surface.md 11).
type Run struct {
	Making
	Process
	Keep bool `help:"Leave the sandbox running and print its id."`

	Command []string `arg:"" passthrough:"partial" name:"cmd" help:"The command and its arguments, exactly as given; no shell."`
}

// Help is shown below the usage.
func (*Run) Help() string {
	return `Flags come before the command:  sandboxc run [flags] [--] CMD ARG...

  sandboxc run -- python3 -c 'print(6*7)'
  sandboxc run --copy script.py -- python3 script.py
  sandboxc run -it -- bash

The exit code is the command's, 128 and the number of the signal that ended it, 124 after --timeout, 125 when sandboxc failed.`
}

// Run makes a sandbox, runs the command in it and ends the sandbox.
func (r *Run) Run(a *App) error {
	p, err := r.plan()
	if err != nil {
		return err
	}
	server := &ownServer{getenv: os.Getenv}
	defer server.close(a)
	find := server.find
	if r.Keep {
		find = nil
	}
	var client *native.Client
	err = a.starting(func(ctx context.Context) (err error) {
		client, err = a.client(ctx, find, nil)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	a.trace("provider %s is ready", client.Provider())
	return r.in(a, client, p)
}

// plan is a checked command line.
type plan struct {
	create  core.CreateOptions
	command core.RunOptions
	copies  []copying
	argv    []string
}

func (r *Run) plan() (*plan, error) {
	p := &plan{argv: argvOf(r.Command)}
	var err error
	if p.create, err = r.Making.options(); err != nil {
		return nil, err
	}
	if p.command, err = r.Process.options(); err != nil {
		return nil, err
	}
	p.copies, err = r.copies()
	return p, err
}

// in runs the plan on a provider.
func (r *Run) in(a *App, client *native.Client, p *plan) error {
	p.create.Timeout = r.life(client.Provider())
	began := time.Now()
	var sbx *native.Sandbox
	err := a.starting(func(ctx context.Context) (err error) {
		sbx, err = prepare(ctx, client, p.create, p.copies, a.leftOut)
		return err
	})
	if sbx == nil {
		return err
	}
	made := time.Since(began)
	a.trace("created %s", sbx)
	if !r.Keep {
		defer end(a, sbx)
	}
	if err != nil {
		return err
	}
	if *p.create.Timeout > 0 {
		defer keepAlive(a.ctx, sbx)()
	}
	began = time.Now()
	job := &job{app: a, sandbox: sbx, argv: p.argv, options: p.command, process: &r.Process, how: howInRun}
	outcome := job.run(a.ctx)
	a.trace("the command ended")
	if r.Keep {
		a.Warn("the sandbox stays: %s", sbx.ID())
	}
	if a.Terminal && !a.JSON {
		a.Note("%s · isolation %s · created in %s · ran for %s", client.Provider(), sbx.Isolation(), round(made), round(time.Since(began)))
	}
	return job.finish(outcome)
}

func howInRun(file string) string { return "pass --copy " + file + ", or --mount" }

const (
	// runLife is how long the sandbox of a run may outlive this program, where
	// the server is another; it is prolonged while the command runs.
	runLife = 5 * time.Minute
	// prolongEvery is how often.
	prolongEvery = time.Minute
	// endClock bounds the end of a sandbox.
	endClock = 10 * time.Second
)

// life is that of the new sandbox. On a server of our own it needs no end: it
// ends with this program, which may be stopped for long in between.
func (r *Run) life(provider string) *time.Duration {
	life := runLife
	if provider == "local" && !r.Keep {
		life = 0
	}
	return &life
}

// keepAlive prolongs the life of a sandbox until stopped. A failure is told by
// the command's own stream.
func keepAlive(ctx context.Context, sbx *native.Sandbox) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(prolongEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = sbx.KeepAlive(ctx, runLife)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// end ends a sandbox whatever happened before.
func end(a *App, sbx *native.Sandbox) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), endClock)
	defer cancel()
	if _, err := sbx.Kill(ctx); err != nil {
		a.Warn("the sandbox %s could not be ended: %v", sbx.ID(), err)
	}
	a.trace("ended %s", sbx.ID())
}

func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(10 * time.Millisecond)
}

// ownServer is a server inside this program, made when the provider turns out to
// be local.
type ownServer struct {
	getenv func(string) string
	server *hosting.Server
}

func (o *ownServer) find(ctx context.Context) (*native.ServerInfo, error) {
	server, err := hosting.Transient(ctx, hosting.Options{Getenv: o.getenv, Internet: true, Registries: true})
	if err != nil {
		return nil, err
	}
	o.server = server
	info := server.Info()
	return &info, nil
}

func (o *ownServer) close(a *App) {
	if o.server == nil {
		return
	}
	if err := o.server.Close(); err != nil {
		a.Warn("the local server did not end cleanly: %v", err)
	}
}

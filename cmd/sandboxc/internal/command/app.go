package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/attend"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/hosting"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Globals are the flags of every command.
type Globals struct {
	Provider string `help:"Where sandboxes are: local, e2b, ... Default: what the environment and config.toml say." placeholder:"NAME"`
	Profile  string `help:"Profile of config.toml." placeholder:"NAME"`
	JSON     bool   `name:"json" help:"Print results and errors as JSON."`
	Quiet    bool   `short:"q" help:"No notes, no progress."`
	Verbose  bool   `short:"v" help:"Say what happens, on stderr."`
}

// App is what every command works with.
type App struct {
	flags Globals
	*output.Printer
	ctx     context.Context
	signals *attend.Signals
	began   time.Time
}

// client makes a client. find is how the local server is had; nil = the one of
// this machine, started when needed. notice tells where the provider is named
// when nobody chose it.
func (a *App) client(ctx context.Context, find func(context.Context) (*native.ServerInfo, error), notice io.Writer) (*native.Client, error) {
	if find == nil {
		find = func(ctx context.Context) (*native.ServerInfo, error) { return hosting.Find(ctx, os.Getenv) }
	}
	if notice == nil || a.Quiet {
		notice = io.Discard
	}
	return native.NewClient(ctx, native.Options{
		Arguments: setting.Arguments{Provider: a.flags.Provider, Profile: a.flags.Profile}, Find: find, Notice: notice,
	})
}

// with runs do with a client that is closed afterwards.
func (a *App) with(do func(*native.Client) error) error {
	client, err := a.client(a.ctx, nil, nil)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	return do(client)
}

// withSandbox runs do with a sandbox that exists.
func (a *App) withSandbox(id string, do func(*native.Sandbox) error) error {
	return a.with(func(client *native.Client) error {
		sbx, err := client.Connect(a.ctx, id, core.ConnectOptions{})
		if err != nil {
			return err
		}
		a.trace("%s", sbx)
		return do(sbx)
	})
}

// trace says what happens, for -v.
func (a *App) trace(format string, args ...any) {
	if a.flags.Verbose {
		_, _ = fmt.Fprintf(a.Err, "%6.1f ms  %s\n", float64(time.Since(a.began).Microseconds())/1000, fmt.Sprintf(format, args...))
	}
}

// Switch is a flag that is on, off, or left to the provider.
type Switch string

// pointer is nil when nothing was said.
func (s Switch) pointer() *bool {
	if s == "" {
		return nil
	}
	on := s == "on"
	return &on
}

// seconds makes a duration of a flag; nil stays nil.
func seconds(flag string, n *float64) (*time.Duration, error) {
	if n == nil {
		return nil, nil
	}
	const most = 1e9 // more does not fit into a duration
	if !(*n >= 0 && *n <= most) {
		return nil, fault.InvalidArgument("%s must be a number of seconds from 0 to %g, not %g", flag, most, *n)
	}
	d := time.Duration(*n * float64(time.Second))
	return &d, nil
}

// starting runs what comes before a command is attended: the first signal ends
// it. From then on the command gets the signals.
func (a *App) starting(do func(ctx context.Context) error) error {
	ctx, stop := a.signals.Context(a.ctx)
	defer stop()
	return attend.Interrupted(ctx, do(ctx))
}

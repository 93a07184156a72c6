package command

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/hosting"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Serve is `sandboxc serve`.
type Serve struct {
	Detach      bool     `short:"d" help:"Start it in the background, or find the one that runs; it ends 10 minutes after its last sandbox and client."`
	Port        int      `help:"Port to listen on, on loopback addresses only. Default: the last one, else a free one."`
	Internet    Switch   `enum:"on,off" default:"on" help:"Whether sandboxes reach the internet unless they say otherwise (on, off)."`
	Registries  Switch   `enum:"on,off" default:"on" help:"Whether sandboxes reach the package registries that this machine uses (on, off)."`
	AllowOrigin []string `sep:"none" placeholder:"ORIGIN" help:"A web origin whose pages may use the server, besides those of localhost."`
	PageKey     string   `placeholder:"ORIGIN" help:"Print a key that is valid for pages of this web origin only."`
	Pages       string   `placeholder:"DIR" help:"Serve the web pages of this directory too, and print an address with a one-time code that gives the page its key. sandboxc page prints another."`

	InterpreterPool *int `placeholder:"N" help:"Sandboxes of code-interpreter-v1 to keep ready, from the start; 0 = none. Default: SANDBOX_INTERPRETER_POOL, else 2 once one was used."`

	ReadyFD  int      `name:"ready-fd" hidden:""`
	EndAfter *float64 `hidden:""`
}

// Run serves.
func (s *Serve) Run(a *App) error {
	if s.Port < 0 || s.Port > 65535 {
		return fault.InvalidArgument("--port must be from 1 to 65535, not %d", s.Port)
	}
	if err := s.findPages(); err != nil {
		return err
	}
	switch {
	case s.ReadyFD != 0:
		return s.report(a)
	case s.Detach:
		return s.detach(a)
	}
	return s.foreground(a)
}

func (s *Serve) detach(a *App) error {
	after, err := s.endAfter(hosting.IdleEnd)
	if err != nil {
		return err
	}
	info, existing, err := hosting.Detach(a.ctx, hosting.Launch{
		Getenv: os.Getenv, Port: s.Port, Internet: s.Internet == "on", Registries: s.Registries == "on",
		AllowOrigins: s.AllowOrigin, EndAfter: after, Pages: s.Pages, InterpreterPool: s.InterpreterPool,
	})
	if err != nil {
		return err
	}
	if existing {
		if err := s.sameAs(info); err != nil {
			return err
		}
	}
	if s.PageKey != "" {
		return printPageKey(a, info, s.PageKey)
	}
	return s.tell(a, info)
}

// sameAs refuses options that the running server may not have: they would be
// ignored in silence.
func (s *Serve) sameAs(info *native.ServerInfo) error {
	if s.Port == 0 && s.Internet == "on" && s.Registries == "on" && len(s.AllowOrigin) == 0 && s.Pages == "" && s.InterpreterPool == nil {
		return nil
	}
	return alreadyRunning(info, "so these options cannot be given to it")
}

func alreadyRunning(info *native.ServerInfo, consequence string) error {
	return fault.InvalidArgument("a local server is running at %s (pid %d), %s", info.URL, info.PID, consequence).
		Suggest("stop it with: kill %d", info.PID)
}

func (s *Serve) foreground(a *App) error {
	after, err := s.endAfter(0)
	if err != nil {
		return err
	}
	var told error
	err = hosting.Serve(a.ctx, s.options(a, after), func(info native.ServerInfo) {
		if s.PageKey != "" {
			told = printPageKey(a, &info, s.PageKey)
			return
		}
		told = s.tell(a, &info)
	})
	var running *hosting.RunningError
	if errors.As(err, &running) {
		if s.PageKey != "" {
			return printPageKey(a, &running.Info, s.PageKey)
		}
		return alreadyRunning(&running.Info, "and each user has one")
	}
	return errors.Join(err, told)
}

func (s *Serve) options(a *App, after time.Duration) hosting.Options {
	o := hosting.Options{
		Getenv: os.Getenv, Port: s.Port, Internet: s.Internet == "on", Registries: s.Registries == "on",
		AllowOrigins: s.AllowOrigin, EndAfter: after, Pages: s.Pages, InterpreterPool: s.InterpreterPool,
	}
	if a.flags.Verbose || s.ReadyFD != 0 {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return o
}

func (s *Serve) endAfter(def time.Duration) (time.Duration, error) {
	d, err := seconds("--end-after", s.EndAfter)
	if d == nil {
		return def, err
	}
	return *d, nil
}

// report serves as the child of a program that waits for the outcome.
func (s *Serve) report(a *App) error {
	after, err := s.endAfter(hosting.IdleEnd)
	if err != nil {
		return err
	}
	sent := false
	err = hosting.Serve(a.ctx, s.options(a, after), func(info native.ServerInfo) {
		sent = true
		// A starter that has gone away in the meantime is no reason to end.
		_ = hosting.Send(s.ReadyFD, hosting.Report{Server: &info})
	})
	if sent || err == nil {
		return err
	}
	var running *hosting.RunningError
	if errors.As(err, &running) {
		return hosting.Send(s.ReadyFD, hosting.Report{Server: &running.Info, Existing: true})
	}
	e := output.Explain(err)
	return errors.Join(err, hosting.Send(s.ReadyFD, hosting.Report{Code: e.Code, Message: e.Message, Suggestion: e.Suggestion}))
}

// tell prints where the server is. With --json that includes its key: whoever
// starts the server may use it.
func (s *Serve) tell(a *App, info *native.ServerInfo) error {
	if s.Pages != "" {
		return s.tellPage(a, info)
	}
	if a.JSON {
		return a.Line(info, "")
	}
	_, err := fmt.Fprintf(a.Out, "%s\n", info.URL)
	if err == nil {
		a.Note("Any E2B SDK uses it after:  eval \"$(sandboxc env)\"\nIts key is only in the output of sandboxc env. Stop it with: %s", s.stop(info))
	}
	return err
}

func (s *Serve) tellPage(a *App, info *native.ServerInfo) error {
	page, err := pageURL(a.ctx, info, "")
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Line(struct {
			*native.ServerInfo
			Page string `json:"page"`
		}{info, page}, "")
	}
	_, err = fmt.Fprintln(a.Out, page)
	if err == nil {
		a.Note("Open it within a minute: its code is good once, for 60 s; sandboxc page prints another. Stop the server with: %s", s.stop(info))
	}
	return err
}

// findPages makes the directory absolute: a server in the background works
// elsewhere.
func (s *Serve) findPages() error {
	if s.Pages == "" {
		return nil
	}
	dir, err := filepath.Abs(s.Pages)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err != nil {
		return fault.InvalidArgument("--pages %s cannot be served: %v", s.Pages, err).Because(err)
	}
	s.Pages = dir
	return nil
}

func (s *Serve) stop(info *native.ServerInfo) string {
	if s.Detach {
		return fmt.Sprintf("kill %d", info.PID)
	}
	return "Ctrl-C"
}

func printPageKey(a *App, info *native.ServerInfo, origin string) error {
	key, err := askPageKey(a.ctx, info, origin)
	if err != nil {
		return err
	}
	return a.Line(map[string]string{"origin": origin, "key": key, "url": info.URL}, "%s", key)
}

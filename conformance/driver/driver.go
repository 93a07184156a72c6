// Package driver calls the SDK for the conformance runner: the Go SDK natively,
// and the core behind its frames, in Go or as core.wasm.
package driver

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/conformance/runner"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
)

// backend is where the core runs.
type backend interface {
	// with runs fn with a client, as one operation.
	with(ctx context.Context, fn func(context.Context, *core.Client) (any, error)) (any, error)
	// start begins a command or terminal that is followed in the background.
	start(ctx context.Context, s *session, q startCall) (process, error)
	settings() (*setting.Settings, error)
	close() error
}

// process is one that is followed in the background.
type process interface {
	PID() uint32
	Wait(ctx context.Context) (*core.CommandResult, error)
	Disconnect()
}

// Native drives package native.
func Native() runner.Driver { return driver{"native", openNative} }

type driver struct {
	name string
	open func(*session) (backend, error)
}

func (d driver) Name() string { return d.name }

func (d driver) Open(s runner.Setup) (runner.Session, error) {
	config := filepath.Join(s.Dir, "config", "agent-sandbox")
	if s.Config != "" {
		if err := os.MkdirAll(config, 0o700); err != nil {
			return nil, err
		}
	}
	for path, text := range map[string]string{filepath.Join(s.Dir, ".env"): s.DotEnv, filepath.Join(config, "config.toml"): s.Config} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return &session{setup: s, open: d.open, processes: map[string]process{}, watchers: map[string]watcher{}}, nil
}

type session struct {
	setup runner.Setup
	open  func(*session) (backend, error)

	mu        sync.Mutex
	back      backend
	handles   []*handle.Handle // the last is the current sandbox
	processes map[string]process
	watchers  map[string]watcher
}

func (s *session) Close() error {
	s.mu.Lock()
	back := s.back
	processes := s.processes
	s.mu.Unlock()
	for _, p := range processes {
		p.Disconnect()
	}
	if back == nil {
		return nil
	}
	return back.close()
}

// backend makes the client once; a failure is the failure of the call.
func (s *session) backend() (backend, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.back != nil {
		return s.back, nil
	}
	back, err := s.open(s)
	if err == nil {
		s.back = back
	}
	return back, err
}

func (s *session) getenv(name string) string {
	switch name {
	case "XDG_CONFIG_HOME":
		return filepath.Join(s.setup.Dir, "config")
	case "XDG_STATE_HOME", "HOME":
		return s.setup.Dir
	}
	return s.setup.Env[name]
}

func (s *session) arguments() (setting.Arguments, error) {
	var a argumentsJSON
	if err := unmarshal(s.setup.Arguments, &a); err != nil {
		return setting.Arguments{}, err
	}
	return a.arguments(), nil
}

// current is the sandbox that calls are about.
func (s *session) current() (*handle.Handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.handles) == 0 {
		return nil, errors.New("the case has made no sandbox yet")
	}
	return s.handles[len(s.handles)-1], nil
}

func (s *session) remember(h handle.Handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handles = append(s.handles, &h)
}

func (s *session) Call(ctx context.Context, name string, params json.RawMessage, emit func(string, any)) (any, *runner.Failure) {
	m, ok := methods[name]
	if !ok {
		return nil, &runner.Failure{Texts: []string{"the driver has no method " + name}}
	}
	back, err := s.backend()
	if err != nil {
		return nil, failure(err)
	}
	result, err := m(&call{ctx: ctx, s: s, back: back, params: params, emit: emit})
	if err != nil {
		return nil, failure(err)
	}
	return result, nil
}

// call is one call under way.
type call struct {
	ctx    context.Context
	s      *session
	back   backend
	params json.RawMessage
	emit   func(string, any)
}

type method func(*call) (any, error)

// take reads the parameters.
func (c *call) take(to any) error { return unmarshal(c.params, to) }

// client runs fn with the client.
func (c *call) client(fn func(context.Context, *core.Client) (any, error)) (any, error) {
	return c.back.with(c.ctx, fn)
}

// sandbox runs fn with the current sandbox.
func (c *call) sandbox(fn func(context.Context, *core.Sandbox) (any, error)) (any, error) {
	h, err := c.s.current()
	if err != nil {
		return nil, err
	}
	return c.client(func(ctx context.Context, client *core.Client) (any, error) {
		sbx, err := client.Open(h)
		if err != nil {
			return nil, err
		}
		return fn(ctx, sbx)
	})
}

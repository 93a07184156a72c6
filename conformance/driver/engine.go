package driver

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/native"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine/loop"
)

// engineBackend makes a client for each operation, as a host of the WebAssembly
// core does: settings and handle travel with each call.
type engineBackend struct {
	host *native.Host
	loop *loop.Loop
	set  *setting.Settings
	s    *session
}

func openEngine(s *session) (backend, error) {
	args, err := s.arguments()
	if err != nil {
		return nil, err
	}
	set, err := setting.Resolve(setting.Input{Arguments: args, Env: s.setup.Env, DotEnv: []byte(s.setup.DotEnv), Config: []byte(s.setup.Config)})
	if err != nil {
		return nil, err
	}
	host, err := native.NewHost(native.HostOptions{Proxy: "direct", Getenv: s.getenv})
	if err != nil {
		return nil, err
	}
	b := &engineBackend{host: host, loop: loop.New(host), set: set, s: s}
	if _, err := b.with(context.Background(), func(context.Context, *core.Client) (any, error) { return nil, nil }); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *engineBackend) with(ctx context.Context, fn func(context.Context, *core.Client) (any, error)) (any, error) {
	return b.loop.Run(ctx, func(ctx context.Context, h transport.Host) (any, error) {
		client, err := core.NewClient(h, b.set)
		if err != nil {
			return nil, err
		}
		return fn(ctx, client)
	})
}

func (b *engineBackend) settings() (*setting.Settings, error) { return b.set, nil }

func (b *engineBackend) close() error { return errors.Join(b.loop.Close(), b.host.Close()) }

var errDetached = errors.New("detached")

// followed is one long operation on the engine.
type followed struct {
	pid    uint32
	cancel context.CancelCauseFunc
	left   atomic.Bool
	done   chan struct{}
	result *core.CommandResult
	err    error
}

func (b *engineBackend) start(ctx context.Context, s *session, q startCall) (process, error) {
	pump, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f := &followed{cancel: cancel, done: make(chan struct{})}
	started := make(chan uint32, 1)
	q.o.OnStart = func(pid uint32) { started <- pid }
	f.guard(&q.o)
	c := &call{ctx: pump, s: s, back: b}
	go func() {
		defer close(f.done)
		result, err := c.sandbox(q.follow)
		f.result, _ = result.(*core.CommandResult)
		f.err = err
	}()
	select {
	case f.pid = <-started:
		return f, nil
	case <-f.done:
		select {
		case f.pid = <-started:
			return f, nil
		default:
			return nil, f.err
		}
	case <-ctx.Done():
		cancel(context.Cause(ctx))
		<-f.done
		if f.err == nil {
			return nil, fault.New(fault.CodeCancelled, "the caller cancelled").Because(context.Cause(ctx))
		}
		return nil, f.err
	}
}

// follow is the long operation itself.
func (q *startCall) follow(ctx context.Context, sbx *core.Sandbox) (any, error) {
	switch {
	case q.pty && q.attach:
		return sbx.Pty.FollowRunning(ctx, q.sel, q.o)
	case q.pty:
		return sbx.Pty.Follow(ctx, core.PtyOptions{Size: q.size, Argv: q.argv, RunOptions: q.o})
	case q.attach:
		return sbx.Commands.FollowRunning(ctx, q.sel, q.o)
	case q.argv != nil:
		return sbx.Commands.Follow(ctx, q.argv, q.o)
	}
	return sbx.Commands.Follow(ctx, []string{"/bin/bash", "-l", "-c", q.command}, q.o)
}

// guard lets no callback run after Disconnect, as every host does.
func (f *followed) guard(o *core.RunOptions) {
	o.OnStdout, o.OnStderr, o.OnPTY = unlessLeft(f, o.OnStdout), unlessLeft(f, o.OnStderr), unlessLeft(f, o.OnPTY)
	o.OnStdoutText, o.OnStderrText = unlessLeft(f, o.OnStdoutText), unlessLeft(f, o.OnStderrText)
}

func unlessLeft[T any](f *followed, fn func(T)) func(T) {
	if fn == nil {
		return nil
	}
	return func(v T) {
		if !f.left.Load() {
			fn(v)
		}
	}
}

func (f *followed) PID() uint32 { return f.pid }

func (f *followed) Wait(ctx context.Context) (*core.CommandResult, error) {
	select {
	case <-f.done:
		return f.result, f.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (f *followed) Disconnect() {
	f.left.Store(true)
	f.cancel(errDetached)
}

package driver

import (
	"context"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/native"
)

type nativeBackend struct {
	client *native.Client
	s      *session
}

func openNative(s *session) (backend, error) {
	args, err := s.arguments()
	if err != nil {
		return nil, err
	}
	o := native.Options{Arguments: args, Proxy: "direct", Getenv: s.getenv, Dir: s.setup.Dir, Notice: io.Discard}
	if args.Provider == "local" {
		o.Server = &native.ServerInfo{URL: args.APIURL, SandboxURL: args.SandboxURL, APIKey: args.APIKey}
	}
	client, err := native.NewClient(context.Background(), o)
	if err != nil {
		return nil, err
	}
	return &nativeBackend{client, s}, nil
}

func (b *nativeBackend) with(ctx context.Context, fn func(context.Context, *core.Client) (any, error)) (any, error) {
	return fn(ctx, b.client.Client)
}

func (b *nativeBackend) settings() (*setting.Settings, error) {
	s := b.client.Settings()
	return &s, nil
}

func (b *nativeBackend) close() error { return b.client.Close() }

func (b *nativeBackend) start(ctx context.Context, s *session, q startCall) (process, error) {
	h, err := s.current()
	if err != nil {
		return nil, err
	}
	sbx, err := b.client.Open(h)
	if err != nil {
		return nil, err
	}
	switch {
	case q.pty && q.attach:
		return proc(sbx.Pty.Attach(ctx, q.sel, q.o))
	case q.pty:
		return proc(sbx.Pty.Create(ctx, core.PtyOptions{Size: q.size, Argv: q.argv, RunOptions: q.o}))
	case q.attach:
		return proc(sbx.Commands.Attach(ctx, q.sel, q.o))
	case q.argv != nil:
		return proc(sbx.Commands.StartExec(ctx, q.argv, q.o))
	}
	return proc(sbx.Commands.Start(ctx, q.command, q.o))
}

// proc keeps a nil pointer from becoming an interface that is not nil.
func proc[P process](p P, err error) (process, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

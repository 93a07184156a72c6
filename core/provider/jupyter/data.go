package jupyter

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// none is a data plane that only tells whether the sandbox runs. Each of its other
// methods is E3004.
type none struct {
	control *control
	sandbox string
}

var _ plane.Data = none{}

func (n none) Healthy(ctx context.Context) (bool, error) {
	err := n.control.exists(ctx, n.sandbox)
	if fault.CodeOf(err) == fault.CodeSandboxNotFound {
		return false, nil
	}
	return err == nil, err
}

func (none) Explain(_ context.Context, err error) error { return err }

func (none) Start(context.Context, plane.StartSpec, plane.Watch, plane.Sink) (*plane.End, error) {
	return nil, cannot(capability.Exec)
}

func (none) Attach(context.Context, plane.Selector, plane.Watch, plane.Sink) (*plane.End, error) {
	return nil, cannot(capability.ExecAttach)
}

func (none) List(context.Context) ([]plane.ProcessInfo, error) { return nil, cannot(capability.Exec) }

func (none) SendInput(context.Context, plane.Selector, bool, []byte) error {
	return cannot(capability.ExecStdin)
}

func (none) StreamInput(context.Context, plane.Selector, bool, func(context.Context) ([]byte, error)) error {
	return cannot(capability.ExecStdin)
}

func (none) CloseStdin(context.Context, plane.Selector) error { return cannot(capability.ExecStdin) }

func (none) Signal(context.Context, plane.Selector, plane.Signal) error {
	return cannot(capability.ExecSignal)
}

func (none) Resize(context.Context, plane.Selector, plane.Size) error { return cannot(capability.PTY) }

func (none) Stat(context.Context, string, string) (*plane.Entry, error) {
	return nil, cannot(capability.Files)
}

func (none) ListDir(context.Context, string, string, uint32) ([]plane.Entry, error) {
	return nil, cannot(capability.Files)
}

func (none) MakeDir(context.Context, string, string) (*plane.Entry, error) {
	return nil, cannot(capability.Files)
}

func (none) Move(context.Context, string, string, string) (*plane.Entry, error) {
	return nil, cannot(capability.Files)
}

func (none) Remove(context.Context, string, string) error { return cannot(capability.Files) }

func (none) WatchDir(context.Context, plane.WatchSpec, plane.Watch, func() error, func(plane.Event) error) error {
	return cannot(capability.FilesWatch)
}

func (none) CreateWatcher(context.Context, plane.WatchSpec) (string, error) {
	return "", cannot(capability.FilesWatch)
}

func (none) WatcherEvents(context.Context, string, string) ([]plane.Event, error) {
	return nil, cannot(capability.FilesWatch)
}

func (none) RemoveWatcher(context.Context, string, string) error {
	return cannot(capability.FilesWatch)
}

func (none) Read(context.Context, plane.ReadSpec) (*transport.Response, error) {
	return nil, cannot(capability.Files)
}

func (none) Write(context.Context, plane.WriteSpec) (*plane.WriteInfo, error) {
	return nil, cannot(capability.Files)
}

func (none) WriteMany(context.Context, string, map[string]string, []plane.WriteSpec) ([]plane.WriteInfo, error) {
	return nil, cannot(capability.Files)
}

func (none) SignedURL(string, string, bool, time.Duration) (string, error) {
	return "", cannot(capability.URLsSigned)
}

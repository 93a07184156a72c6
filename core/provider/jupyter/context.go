package jupyter

import (
	"context"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/uri"
)

// interpreter runs code in the kernels of one sandbox. The id of a context is that
// of its kernel.
type interpreter struct {
	control *control
	sandbox string
}

var _ plane.Interpreter = (*interpreter)(nil)

// CreateContext starts a kernel. Its directory is one below the server's own.
func (i *interpreter) CreateContext(ctx context.Context, spec plane.ContextSpec) (*plane.CodeContext, error) {
	cwd := strings.Trim(spec.Cwd, "/")
	if err := i.directory(ctx, spec.Cwd, cwd); err != nil {
		return nil, err
	}
	name, err := i.control.specOf(ctx, spec.Language)
	if err != nil {
		return nil, err
	}
	made, err := i.control.open(ctx, i.sandbox, cwd, i.control.random(8), name)
	if err != nil {
		return nil, err
	}
	return &plane.CodeContext{ID: made.Kernel.ID, Language: orElse(spec.Language, "python"), Cwd: made.cwd()}, nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// directory refuses one that is not there, in whose place the server would take
// its own.
func (i *interpreter) directory(ctx context.Context, asked, cwd string) error {
	switch {
	case asked == "":
		return nil
	case strings.HasPrefix(asked, "/"), cwd == "", cwd == "..", strings.HasPrefix(cwd, "../"), strings.Contains(cwd+"/", "/../"):
		return fault.InvalidArgument("%s must be a directory below the Jupyter Server's own, such as work, not %q", fault.Option("cwd"), asked).On("cwd")
	}
	var found struct {
		Type string `json:"type"`
	}
	parts := strings.Split(cwd, "/")
	for n := range parts {
		parts[n] = uri.Escape(parts[n])
	}
	err := i.control.call(ctx, true, "GET", "/api/contents/"+strings.Join(parts, "/")+"?content=0", nil, &found)
	if statusOf(err) == 404 || err == nil && found.Type != "directory" {
		return fault.InvalidArgument("%s %q is no directory of the Jupyter Server", fault.Option("cwd"), asked).On("cwd")
	}
	return err
}

// Contexts lists the kernels that were made for the sandbox.
func (i *interpreter) Contexts(ctx context.Context) ([]plane.CodeContext, error) {
	mine, err := i.control.sessions(ctx, i.sandbox)
	if err != nil {
		return nil, err
	}
	list := make([]plane.CodeContext, 0, len(mine))
	if len(mine) == 0 {
		return list, nil
	}
	all, err := i.control.specs(ctx)
	if err != nil {
		return nil, err
	}
	for n := range mine {
		s := &mine[n]
		list = append(list, plane.CodeContext{ID: s.Kernel.ID, Language: all.language(s.Kernel.Name), Cwd: s.cwd()})
	}
	return list, nil
}

func kernelPath(id string) string { return "/api/kernels/" + uri.Escape(id) }

// RestartContext starts a kernel afresh. A kernel that was made by others is left
// alone.
func (i *interpreter) RestartContext(ctx context.Context, id string) error {
	s, err := i.mine(ctx, id)
	if err != nil {
		return err
	}
	if s == nil {
		return noContext(id)
	}
	return i.control.call(ctx, false, "POST", kernelPath(id)+"/restart", struct{}{}, nil)
}

func noContext(id string) *fault.Error {
	return fault.New(fault.CodeCodeExecution, "there is no context %q", id).On("context_id")
}

// mine is the session of a kernel that was made for the sandbox; nil when there is
// none. One that others made is E3003.
func (i *interpreter) mine(ctx context.Context, id string) (*session, error) {
	all, err := i.control.sessions(ctx, i.sandbox)
	if err != nil {
		return nil, err
	}
	for n := range all {
		if all[n].Kernel.ID == id {
			return &all[n], nil
		}
	}
	_, err = i.kernel(ctx, id)
	if err == nil {
		return nil, fault.New(fault.CodeCodeExecution, "the kernel %q was not made for this sandbox, and is left alone", id).On("context_id")
	}
	if statusOf(err) == 404 {
		return nil, nil
	}
	return nil, err
}

func (i *interpreter) kernel(ctx context.Context, id string) (*kernel, error) {
	var k kernel
	return &k, i.control.call(ctx, true, "GET", kernelPath(id), nil, &k)
}

// RemoveContext ends a kernel that was made for the sandbox. The last one is the
// sandbox.
func (i *interpreter) RemoveContext(ctx context.Context, id string) (bool, error) {
	s, err := i.mine(ctx, id)
	if err != nil || s == nil {
		return false, err
	}
	return i.control.close(ctx, s)
}

// InterruptContext stops what runs in a kernel.
func (i *interpreter) InterruptContext(ctx context.Context, id string) (bool, error) {
	before, err := i.kernel(ctx, id)
	if statusOf(err) == 404 {
		return false, noContext(id)
	}
	if err != nil || before.State == "idle" {
		return false, err
	}
	if err := i.interrupt(ctx, id); err != nil {
		return false, err
	}
	if !i.idle(ctx, id) {
		return true, fault.New(fault.CodeCodeExecution, "the context was interrupted and is still busy").
			Suggest("restart it with %s", fault.Option("restart_code_context"))
	}
	return true, nil
}

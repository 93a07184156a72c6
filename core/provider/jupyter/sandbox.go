package jupyter

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
)

// Create starts the first kernel: of the template, which names a kernelspec or a
// language; without one Python's, or else the server's default.
func (c *control) Create(ctx context.Context, spec provider.CreateSpec) (*handle.Handle, error) {
	if err := unfit(spec); err != nil {
		return nil, err
	}
	all, err := c.specs(ctx)
	if err != nil {
		return nil, err
	}
	kernel, err := all.ofTemplate(spec.Template)
	if err != nil {
		return nil, err
	}
	id := Name + "-" + c.random(12)
	if _, err := c.open(ctx, id, "", defaultName+kernel, kernel); err != nil {
		if e := fault.As(err); e != nil && e.Code == fault.CodeCodeExecution {
			e.Code = fault.CodeSandboxCreation
		}
		return nil, err
	}
	return c.handle(id), nil
}

func (c *control) handle(id string) *handle.Handle {
	return &handle.Handle{Provider: Name, SandboxID: id, Isolation: c.Isolation(), URLs: handle.URLs{Sandbox: c.base}}
}

func (s *specs) ofTemplate(template string) (string, error) {
	switch template {
	case "", "base", "code-interpreter-v1":
		if python := s.find("python"); python != "" {
			return python, nil
		}
		if _, ok := s.Specs[s.Default]; ok {
			return s.Default, nil
		}
	default:
		if found := s.find(template); found != "" {
			return found, nil
		}
	}
	return "", fault.New(fault.CodeTemplateNotFound, "the Jupyter Server has no kernel %q: it has %s", template, s.names()).On("template")
}

// unfit refuses what a server cannot be told of a kernel.
func unfit(spec provider.CreateSpec) error {
	for _, asked := range []struct {
		option fault.Option
		given  bool
	}{
		{"timeout_ms", spec.Timeout != nil && *spec.Timeout != 0},
		{"metadata", len(spec.Metadata) > 0},
		{"envs", len(spec.Envs) > 0},
		{"mounts", len(spec.Mounts) > 0},
		{"cpu_count", spec.CPUCount != 0},
		{"memory_mb", spec.MemoryMB != 0},
		{"disk_mb", spec.DiskMB != 0},
	} {
		if asked.given {
			return without(asked.option)
		}
	}
	return nil
}

func without(option fault.Option) *fault.Error {
	return fault.New(fault.CodeCapability, "provider %s has no %s: a Jupyter Server takes none", Name, option).On(option).Suggest("provider local has it")
}

// Connect takes a sandbox whose kernels are there.
func (c *control) Connect(ctx context.Context, id string, spec provider.ConnectSpec) (*handle.Handle, error) {
	if spec.Timeout != nil && *spec.Timeout != 0 {
		return nil, without("timeout_ms")
	}
	if err := c.exists(ctx, id); err != nil {
		return nil, err
	}
	return c.handle(id), nil
}

// exists is E2005 when the sandbox has no kernel.
func (c *control) exists(ctx context.Context, id string) error {
	mine, err := c.sessions(ctx, id)
	if err == nil && len(mine) == 0 {
		return missing(id)
	}
	return err
}

func missing(id string) *fault.Error {
	e := fault.New(fault.CodeSandboxNotFound, "the Jupyter Server has no kernel of sandbox %s", id)
	e.SandboxID = id
	return e
}

// Kill ends the kernels that were made for the sandbox, and no other.
func (c *control) Kill(ctx context.Context, id string) (bool, error) {
	mine, err := c.sessions(ctx, id)
	if err != nil {
		return false, err
	}
	killed := false
	for i := range mine {
		ended, err := c.close(ctx, &mine[i])
		if err != nil {
			return killed, err
		}
		killed = killed || ended
	}
	return killed, nil
}

// Info knows little: a server keeps no start of a kernel.
func (c *control) Info(ctx context.Context, id string) (*provider.Info, error) {
	if err := c.exists(ctx, id); err != nil {
		return nil, err
	}
	return &provider.Info{SandboxID: id, State: "running", Isolation: c.Isolation()}, nil
}

// List cannot be done, nor what follows.
func (c *control) List(context.Context, provider.ListSpec) (*provider.Page, error) {
	return nil, cannot(capability.List)
}

// SetTimeout cannot be done.
func (c *control) SetTimeout(context.Context, string, time.Duration) error {
	return cannot(capability.Timeout)
}

// Extend cannot be done.
func (c *control) Extend(context.Context, string, time.Duration) error {
	return cannot(capability.Timeout)
}

// Pause cannot be done.
func (c *control) Pause(context.Context, string, bool) (bool, error) {
	return false, cannot(capability.Pause)
}

// Metrics cannot be done.
func (c *control) Metrics(context.Context, string, time.Time, time.Time) ([]provider.Metric, error) {
	return nil, cannot(capability.Metrics)
}

// UpdateNetwork cannot be done.
func (c *control) UpdateNetwork(context.Context, string, provider.Network) error {
	return cannot(capability.NetworkUpdate)
}

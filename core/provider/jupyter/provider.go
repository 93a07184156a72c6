// Package jupyter runs code on any Jupyter Server: a sandbox is a set of kernels on
// it that nobody else has, and nothing else. Facts: providers.md G.5.
package jupyter

import (
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Name is what it is called among the providers.
const Name = "jupyter"

// New makes the provider.
func New() provider.Provider { return backend{} }

type backend struct{}

func (backend) Name() string { return Name }

func (backend) Capabilities() capability.Set {
	return capability.Set{
		capability.Create, capability.Connect, capability.Kill, capability.Code, capability.CodeContexts, capability.CodeRich,
	}
}

func (backend) Open(cfg provider.Config) (provider.Control, error) {
	if cfg.Settings.APIURL == "" {
		return nil, fault.InvalidArgument("provider %s needs the address of a Jupyter Server", Name).
			On("api_url").Suggest("pass %s, such as http://localhost:8888, and its token as %s", fault.Option("api_url"), fault.Option("api_key"))
	}
	return &control{host: cfg.Host, settings: cfg.Settings, userAgent: cfg.UserAgent, base: strings.TrimRight(cfg.Settings.APIURL, "/")}, nil
}

// control speaks to one server.
type control struct {
	host      transport.Host
	settings  *setting.Settings
	userAgent string
	base      string
}

// Isolation: a server does not say what its kernels run in.
func (c *control) Isolation() string { return "unknown" }

// EndlessLife: kernels live until somebody ends them.
func (c *control) EndlessLife() bool { return true }

func (c *control) Data(h *handle.Handle) plane.Data { return none{c, h.SandboxID} }

func (c *control) Interpreter(h *handle.Handle) plane.Interpreter {
	return &interpreter{control: c, sandbox: h.SandboxID}
}

// HostOf and URLOf are not reached: there are no ports.
func (c *control) HostOf(*handle.Handle, int) string { return "" }

func (c *control) URLOf(*handle.Handle, int) string { return "" }

// cannot is E3004.
func cannot(what capability.Capability) *fault.Error {
	return fault.New(fault.CodeCapability, "provider %s cannot do %s", Name, what).Suggest("provider local can")
}

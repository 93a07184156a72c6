// Package e2b is the control plane of E2B and of the clouds that speak its API.
// Facts: e2b.md sections 1 and 2.
package e2b

import (
	"slices"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Preset is what sets one E2B-compatible backend apart.
type Preset struct {
	Name         string
	Capabilities capability.Set
	Isolation    string // stated by nobody else; "" = unknown
	EndlessLife  bool   // a lifetime of 0 means none
	HTTP         bool   // sandbox URLs are http, not https
	OneProcess   bool   // one server is the API, serves the sandboxes and ends with them
}

// New makes the provider of a preset.
func New(p Preset) provider.Provider { return backend{p} }

// Name is what E2B's own service is called among the providers.
const Name = "e2b"

// Cloud is E2B's own service.
func Cloud() provider.Provider {
	return New(Preset{Name: Name, Capabilities: capability.Envd().Plus(
		capability.Snapshot, capability.Fork, capability.Code, capability.CodeContexts, capability.CodeRich,
		capability.Logs, capability.Volumes, capability.Secrets, capability.Templates)})
}

type backend struct{ preset Preset }

func (b backend) Name() string                 { return b.preset.Name }
func (b backend) Capabilities() capability.Set { return b.preset.Capabilities }

// ownDomains are E2B's: they share one sandbox host, and run micro-VMs.
var ownDomains = []string{"e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev"}

func (b backend) Open(cfg provider.Config) (provider.Control, error) {
	s := cfg.Settings
	c := &control{preset: b.preset, host: cfg.Host, settings: s, userAgent: cfg.UserAgent, domain: s.Domain}
	if c.domain == "" {
		c.domain = setting.DefaultDomain
	}
	switch {
	case s.APIURL != "":
		c.base = strings.TrimRight(s.APIURL, "/")
	case s.Debug:
		c.base = "http://localhost:3000"
	default:
		c.base = "https://api." + c.domain
	}
	// Where the local server is yet to be found, there is a key only then: what needs
	// no request works without.
	if s.APIKey == "" && !s.Debug && !s.NeedsServer() {
		return nil, fault.New(fault.CodeInvalidAPIKey, "provider %s needs an API key", b.preset.Name).
			On("api_key").Suggest("set E2B_API_KEY or pass %s; or use %s local, which needs none", fault.Option("api_key"), fault.Option("provider"))
	}
	return c, nil
}

type control struct {
	preset    Preset
	host      transport.Host
	settings  *setting.Settings
	userAgent string
	domain    string
	base      string
}

// Isolation is vm only where E2B itself runs the sandboxes: a server that looks
// like E2B must not pass for one.
func (c *control) Isolation() string {
	if c.preset.Isolation != "" {
		return c.preset.Isolation
	}
	if c.settings.APIURL == "" && !c.settings.Debug && slices.Contains(ownDomains, c.domain) {
		return "vm"
	}
	return "unknown"
}

func (c *control) EndlessLife() bool { return c.preset.EndlessLife }

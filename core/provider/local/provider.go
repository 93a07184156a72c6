// Package local is the client side of the embedded provider: E2B's wire, with
// what a server on the same machine can do besides. The server's address and
// key come from its state file, through the host's settings.
package local

import (
	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
	"github.com/agent-sandbox/agent-sandbox/core/provider/e2b"
)

// Name is what it is called among the providers.
const Name = "local"

// New makes the provider.
func New() provider.Provider {
	return e2b.New(e2b.Preset{
		Name:         Name,
		Capabilities: capability.Envd().Plus(capability.Code, capability.CodeContexts, capability.CodeRich),
		Isolation:    "namespaces",
		EndlessLife:  true,
		OneProcess:   true,
		HTTP:         true,
	})
}

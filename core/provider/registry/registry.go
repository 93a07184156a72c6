// Package registry knows the providers by name.
package registry

import (
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
	"github.com/agent-sandbox/agent-sandbox/core/provider/e2b"
	"github.com/agent-sandbox/agent-sandbox/core/provider/jupyter"
	"github.com/agent-sandbox/agent-sandbox/core/provider/local"
)

func all() []provider.Provider { return []provider.Provider{local.New(), e2b.Cloud(), jupyter.New()} }

// Names lists the providers.
func Names() []string {
	var names []string
	for _, p := range all() {
		names = append(names, p.Name())
	}
	return names
}

// Find gives a provider by name; E8000 names the known ones, and said, the option
// or variable that asked for it.
func Find(name string, said any) (provider.Provider, error) {
	switch name { // one of them is wanted in every call, and all cost more than one
	case local.Name:
		return local.New(), nil
	case e2b.Name:
		return e2b.Cloud(), nil
	case jupyter.Name:
		return jupyter.New(), nil
	}
	return nil, fault.InvalidArgument("%s %q is unknown: use one of %s", said, name, strings.Join(Names(), ", ")).On("provider")
}

// Need is E3004 unless p can do c; it names a provider that can.
func Need(p provider.Provider, c capability.Capability) error {
	if p.Capabilities().Has(c) {
		return nil
	}
	e := fault.New(fault.CodeCapability, "provider %s cannot do %s", p.Name(), c)
	for _, other := range all() {
		if other.Capabilities().Has(c) {
			return e.Suggest("provider %s can", other.Name())
		}
	}
	return e
}

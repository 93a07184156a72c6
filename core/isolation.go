package core

import (
	"slices"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// levels of isolation, weakest first. unknown fails any minimum.
var levels = []string{"none", "namespaces", "gvisor", "vm"}

// checkIsolation refuses what is weaker than SANDBOX_MIN_ISOLATION asks.
func (c *Client) checkIsolation(got string) error {
	minimum := c.settings.MinIsolation
	if minimum == "" || minimum == "none" {
		return nil
	}
	if have := slices.Index(levels, got); have >= slices.Index(levels, minimum) {
		return nil
	}
	return fault.New(fault.CodeSandboxCreation, "provider %s gives isolation %s, and %s asks for %s", c.Provider(), got, c.settings.Place("min_isolation"), minimum).
		On("min_isolation").Suggest("choose a provider with stronger isolation, or ask for less")
}

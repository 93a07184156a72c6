package registry

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
	"github.com/agent-sandbox/agent-sandbox/core/provider/e2b"
)

func TestAMissingCapabilityNamesItselfAndAProviderThatHasIt(t *testing.T) {
	bare := e2b.New(e2b.Preset{Name: "bare", Capabilities: capability.Set{capability.Create}})
	require.NoError(t, Need(bare, capability.Create))
	err := Need(bare, capability.Exec)
	require.Equal(t, fault.CodeCapability, fault.CodeOf(err))
	require.ErrorContains(t, err, "provider bare cannot do exec")
	require.ErrorContains(t, err, "provider local can")
	err = Need(bare, "flight")
	require.ErrorContains(t, err, "provider bare cannot do flight")
	require.Empty(t, fault.As(err).Suggestion)
}

func TestProvidersAreFoundByName(t *testing.T) {
	for _, name := range Names() {
		p, err := Find(name, "provider")
		require.NoError(t, err)
		require.Equal(t, name, p.Name())
	}
	var none provider.Provider
	none, err := Find("nope", "provider")
	require.Nil(t, none)
	require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
	require.ErrorContains(t, err, "local")
}

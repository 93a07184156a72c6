package egress

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheBudgetLeavesDescriptorsToOthers(t *testing.T) {
	b := newBudget()
	require.Positive(t, b.most)
	taken := int64(0)
	for b.enter() {
		taken++
	}
	require.Equal(t, b.most, taken)
	require.False(t, b.enter())
	b.leave()
	require.True(t, b.enter())
}

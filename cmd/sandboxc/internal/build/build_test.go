package build

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReleasedTellsTaggedBuildsFromOthers(t *testing.T) {
	for version, want := range map[string]bool{
		"":                                      false,
		"(devel)":                               false,
		"v0.1.0":                                true,
		"v1.2.3-rc.1":                           true,
		"v0.1.0+dirty":                          false,
		"v0.0.0-20261129173800-0123456789ab":    false,
		"v0.1.1-0.20261129173800-0123456789ab":  false,
		"v0.1.1-0.20261129173800-0123456789abc": true,
	} {
		require.Equal(t, want, released(version), version)
	}
}

func TestTestBinaryHasAnID(t *testing.T) {
	require.NotEmpty(t, ID())
	first, again := ID(), ID()
	require.Equal(t, first, again)
}

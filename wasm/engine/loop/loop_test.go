package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/conformance/transporttest"
	"github.com/agent-sandbox/agent-sandbox/native"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine/loop"
)

func TestHost(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, c transporttest.Config) transporttest.Fixture {
		h, err := native.NewHost(native.HostOptions{CAFile: c.CAFile, StoreDir: c.StoreDir, Proxy: "direct"})
		require.NoError(t, err)
		l := loop.New(h)
		t.Cleanup(func() {
			require.NoError(t, l.Close())
			require.NoError(t, h.Close())
		})
		return transporttest.Fixture{Run: l.Run, Source: native.NewSource}
	})
}

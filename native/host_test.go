package native_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/conformance/transporttest"
	"github.com/agent-sandbox/agent-sandbox/native"
)

func TestHost(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, c transporttest.Config) transporttest.Fixture {
		h, err := native.NewHost(native.HostOptions{CAFile: c.CAFile, StoreDir: c.StoreDir, Proxy: "direct"})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, h.Close()) })
		return transporttest.Fixture{
			Run:    func(ctx context.Context, fn transporttest.Func) (any, error) { return fn(ctx, h) },
			Source: native.NewSource,
		}
	})
}

package handle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

func TestHandlesGoRound(t *testing.T) {
	h := Handle{
		Provider: "e2b", SandboxID: "i1", Domain: "d", URLs: URLs{API: "a", Sandbox: "s"}, Tokens: Tokens{Envd: "e", Traffic: "t"},
		EnvdVersion: "0.6.13", Template: "base", Isolation: "vm",
	}
	b, err := h.ToJSON()
	require.NoError(t, err)
	got, err := FromJSON(b)
	require.NoError(t, err)
	require.Equal(t, h, *got)
}

func TestHandlesOfLaterVersionsAreRead(t *testing.T) {
	h, err := FromJSON([]byte(`{"provider":"p","sandbox_id":"i","urls":{"x":1},"tokens":{},"later":[1]}`))
	require.NoError(t, err)
	require.Equal(t, Handle{Provider: "p", SandboxID: "i"}, *h)
}

func TestPrintsShowNoToken(t *testing.T) {
	h := Handle{Provider: "p", SandboxID: "i", Tokens: Tokens{Envd: "s3cr3t", Traffic: "s3cr3t"}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, v := range []any{h, &h, h.Tokens, &h.Tokens, []Handle{h}, struct{ H Handle }{h}, map[string]Tokens{"a": h.Tokens}} {
			require.NotContains(t, fmt.Sprintf(format, v), "s3cr3t", "%s of %T", format, v)
		}
	}
}

func FuzzFromJSON(f *testing.F) {
	f.Add([]byte(`{"provider":"p","sandbox_id":"i"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := FromJSON(b)
		if err != nil {
			require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
			return
		}
		out, err := h.ToJSON()
		require.NoError(t, err)
		again, err := FromJSON(out)
		require.NoError(t, err)
		require.Equal(t, h, again)
	})
}

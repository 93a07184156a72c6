package e2b

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
)

func TestSandboxURLsSpeakAsTheServerDoes(t *testing.T) {
	for name, c := range map[string]struct{ base, domain, want string }{
		"the cloud":                     {"https://api.e2b.app", "e2b.app", "https://3000-i1.e2b.app"},
		"this machine, plain":           {"http://127.0.0.1:4000", "localhost:4000", "http://3000-i1.localhost:4000"},
		"this machine, with TLS":        {"https://localhost:4000", "localhost:4000", "https://3000-i1.localhost:4000"},
		"a cloud behind a plain tunnel": {"http://127.0.0.1:4000", "e2b.app", "https://3000-i1.e2b.app"},
		"a name that only looks like":   {"http://x", "localhost.evil.example", "https://3000-i1.localhost.evil.example"},
	} {
		t.Run(name, func(t *testing.T) {
			control := &control{settings: &setting.Settings{}, base: c.base}
			require.Equal(t, c.want, control.URLOf(&handle.Handle{SandboxID: "i1", Domain: c.domain}, 3000))
		})
	}
}

func TestSignedURLsNameTheOneBaseOfAllTrafficWhereThereIsOne(t *testing.T) {
	for name, c := range map[string]struct {
		preset          Preset
		domain, sandbox string
		want            string
	}{
		"the cloud":    {Preset{}, "e2b.app", "", "https://49983-i1.e2b.app"},
		"one base":     {Preset{}, "e2b.app", "https://proxy.example", "https://proxy.example"},
		"this machine": {Preset{HTTP: true}, "localhost:4000", "http://127.0.0.1:4000", "http://127.0.0.1:4000"},
		"its names":    {Preset{HTTP: true}, "localhost:4000", "", "http://49983-i1.localhost:4000"},
	} {
		t.Run(name, func(t *testing.T) {
			control := &control{settings: &setting.Settings{}, preset: c.preset, base: "https://api"}
			h := &handle.Handle{SandboxID: "i1", Domain: c.domain, URLs: handle.URLs{Sandbox: c.sandbox}}
			require.Equal(t, c.want, control.directBase(h))
		})
	}
}

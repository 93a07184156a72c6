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

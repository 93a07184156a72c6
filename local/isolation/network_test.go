//go:build linux

package isolation_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/egress"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// offSays is what every tool says when the network is off.
const offSays = "this-sandbox-has-no-network.turn-it-on-with--internet-on.or-allow-internet-access-true"

func TestBoxWithoutNetworkSaysSo(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "off"})
	for _, script := range []string{
		"curl -sS https://example.com", "curl -sS http://example.com", "git clone https://github.com/a/b",
		"pip download --no-deps wcwidth", "sudo pip download wcwidth", "npm view left-pad --fetch-retries 0", "sudo apt-get update",
	} {
		if script == "sudo apt-get update" && os.Geteuid() != 0 {
			r := run(t, b, "user", script+" 2>&1")
			require.Contains(t, r.Out, "run the server as root")
			continue
		}
		r := run(t, b, "user", "command -v "+firstProgram(script)+" >/dev/null || { echo "+offSays+"; exit 1; }; timeout 30 "+script+" 2>&1")
		require.Contains(t, r.Out, offSays, script)
		if script != "sudo apt-get update" {
			require.NotZero(t, r.Code, script)
		}
	}
	// What is inside is reached as ever.
	r := run(t, b, "user", "(python3 -m http.server 8000 >/dev/null 2>&1 &) ; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; "+
		"curl -sS -o /dev/null http://localhost:8000 2>/dev/null && curl -sS -o /dev/null http://$(hostname):8000 && echo both && break; done")
	require.Equal(t, "both\n", r.Out)
}

func firstProgram(script string) string {
	for i, c := range script {
		if c == ' ' {
			return script[:i]
		}
	}
	return script
}

func TestBoxInstallsPackages(t *testing.T) {
	if os.Getenv("CI") == "" && testing.Short() {
		t.Skip("reaches package registries")
	}
	b := start(t, open(t), isolation.Spec{ID: "packages", Internet: true, Egress: relay(t, egress.Rules{})})
	r := run(t, b, "user", "python3 -m venv ~/v && ~/v/bin/pip install -q wcwidth 2>&1 && ~/v/bin/python -c 'import wcwidth; print(\"venv\")'")
	require.Contains(t, r.Out, "venv\n")
	r = run(t, b, "user", "pip install -q --user tomli 2>&1; python3 -c 'import tomli; print(\"user\")'")
	require.Contains(t, r.Out, "user\n")
	if os.Geteuid() != 0 {
		return
	}
	r = run(t, b, "user", "sudo pip install -q colorama 2>&1; python3 -c 'import colorama; print(colorama.__file__)'")
	require.Contains(t, r.Out, "/usr/local/lib/python3")
	r = run(t, b, "user", "(sudo apt-get update && sudo apt-get install -y hello) 2>&1; hello")
	require.Contains(t, r.Out, "Hello, world!\n")
	require.NoFileExists(t, "/usr/bin/hello")
}

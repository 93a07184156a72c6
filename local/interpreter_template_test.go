//go:build linux

package local

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/template"
)

// newInterpreting starts a server that has code-interpreter-v1.
func newInterpreting(t *testing.T, pool int) (*client, *Server) {
	t.Helper()
	state := t.TempDir()
	require.NoError(t, os.Symlink(interpreterTemplates(t), template.Dir(state)))
	s, err := New(t.Context(), Options{StateDir: state, Internet: true, APIKey: testKey, InterpreterPool: pool})
	require.NoError(t, err)
	return serving(t, s), s
}

// says runs code and gives what it printed.
func (c *client) says(m made, code string) string {
	c.t.Helper()
	body := c.execute(m, fmt.Sprintf(`{"code":%q}`, code))
	var out strings.Builder
	for _, match := range regexp.MustCompile(`"type":"stdout","text":"((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(body, -1) {
		out.WriteString(strings.ReplaceAll(match[1], `\n`, "\n"))
	}
	require.NotContains(c.t, body, `"type":"error"`, body)
	return out.String()
}

func (c *client) reallyFull(size int) {
	c.t.Helper()
	require.Eventually(c.t, func() bool { return c.pool().Ready == size }, 3*time.Minute, 50*time.Millisecond)
}

func TestSandboxesThatWaitedShareNothing(t *testing.T) {
	c, s := newInterpreting(t, 2)
	c.reallyFull(2)
	const code = `import random, uuid, tempfile, os, secrets, numpy, socket
f, name = tempfile.mkstemp()
print(random.random(), numpy.random.random(), numpy.random.default_rng().random(), uuid.uuid4(), uuid.uuid1(), os.path.basename(name), secrets.token_hex(), socket.gethostname(), sep="\n")
print(os.environ["WHO"], os.environ["E2B_SANDBOX_ID"])
open(os.path.expanduser("~/mine"), "x").close()`
	seen := map[string]bool{}
	for _, who := range []string{"ann", "ben"} {
		m := c.create(orderInterpreter + `,"envVars":{"WHO":"` + who + `"}}`)
		lines := strings.Split(strings.TrimSpace(c.says(m, code)), "\n")
		require.Len(t, lines, 9)
		require.Equal(t, who+" "+m.SandboxID, lines[8])
		for _, value := range lines {
			require.False(t, seen[value], "both have %s", value)
			seen[value] = true
		}
		require.Equal(t, who+"\n", c.run(m, "echo $WHO"), "commands have its variables too")
		require.Equal(t, "mine\n", c.run(m, "ls ~"))
		// The kernel is older than the sandbox's owner: it did wait.
		require.Equal(t, "True\n", c.says(m, "import psutil, time; print(psutil.Process().create_time() < "+began(s, m)+")"))
	}
}

// began is when a sandbox got its owner, in seconds.
func began(s *Server, m made) string {
	return fmt.Sprintf("%.3f", float64(s.members.get(m.SandboxID).StartedAt().UnixMilli())/1000)
}

func TestSandboxThatWaitedCanBeGivenWithoutANetwork(t *testing.T) {
	c, s := newInterpreting(t, 1)
	c.reallyFull(1)
	m := c.create(orderInterpreter + `,"allow_internet_access":false}`)
	require.Nil(t, s.members.get(m.SandboxID).net.policy)
	out := c.says(m, `import urllib.request, os
for handlers in [], [urllib.request.ProxyHandler({})]:
    try:
        urllib.request.build_opener(*handlers).open("http://93.184.216.34", timeout=20)
    except Exception as e:
        print("failed")
print(os.environ["HTTPS_PROXY"])`)
	require.Contains(t, out, "failed\nfailed\nhttp://this-sandbox-has-no-network")
}

func TestCodeInterpreterTemplateHasWhatItPromises(t *testing.T) {
	c, _ := newInterpreting(t, -1)
	m := c.create(orderInterpreter + `}`)
	require.Equal(t, "ok\n", c.says(m, `import numpy, pandas, matplotlib.pyplot, e2b_charts; print("ok")`))
	require.Equal(t, "ok\n", c.run(m, `python -c 'import ipykernel, pandas; print("ok")'`))
	for _, language := range []string{"bash", "javascript", "typescript"} {
		code := map[string]string{"bash": "echo $((40+2))"}[language]
		if code == "" {
			code = "console.log(40+2)"
		}
		require.Contains(t, c.execute(m, fmt.Sprintf(`{"code":%q,"language":%q}`, code, language)), `42`, language)
	}
}

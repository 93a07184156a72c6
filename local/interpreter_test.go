//go:build linux

package local

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kernelPrefix is an environment with Jupyter kernels, made of the system's Python.
func kernelPrefix(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("../scripts/kernel-tools").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// withKernels creates a sandbox that has them at /mnt/kernels.
func (c *client) withKernels(prefix string) made {
	c.t.Helper()
	mounts, err := json.Marshal([]map[string]any{{"source": prefix, "target": "/mnt/kernels"}})
	require.NoError(c.t, err)
	return c.create(fmt.Sprintf(`{"templateID":"base","envVars":{"PATH":"/mnt/kernels/bin:/usr/bin:/bin","WHO":"sandbox"},"hostMounts":%s}`, mounts))
}

func (c *client) execute(m made, body string) string {
	c.t.Helper()
	a := c.do("POST", "/execute", body, append(m.inside(49999), "Content-Type", "application/json")...)
	require.Equal(c.t, 200, a.status, a.body)
	return a.body
}

func TestCodeRunsInASandbox(t *testing.T) {
	c, _ := newReal(t)
	m := c.withKernels(kernelPrefix(t))
	require.Contains(t, c.execute(m, `{"code":"1+1"}`), `{"type":"result","text":"2","is_main_result":true}`)
	out := c.execute(m, `{"code":"import os,getpass\nprint(getpass.getuser(), os.getcwd(), os.environ['WHO'], os.environ['E2B_SANDBOX'])"}`)
	require.Contains(t, out, `user /home/user sandbox true\n`)
	a := c.do("GET", "/contexts", "", m.inside(49999)...)
	require.Contains(t, a.body, `"language":"python","cwd":"/home/user"`)
	require.Equal(t, `"OK"`, c.do("GET", "/health", "", m.inside(49999)...).body)
}

func TestCodeWithoutKernelsNamesTheTemplate(t *testing.T) {
	c, _ := newReal(t)
	m := c.create(`{"templateID":"base"}`)
	a := c.do("POST", "/execute", `{"code":"1+1"}`, append(m.inside(49999), "Content-Type", "application/json")...)
	require.Equal(t, 501, a.status)
	require.Contains(t, a.body, "code-interpreter-v1")
	require.Equal(t, 502, c.do("GET", "/", "", m.inside(49998)...).status)
}

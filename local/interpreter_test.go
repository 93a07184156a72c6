//go:build linux

package local

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// kernelPrefix is an environment with Jupyter kernels, made of the system's
// Python: AGENT_SANDBOX_KERNELS, or one that is made in the tree.
func kernelPrefix(t *testing.T) string {
	t.Helper()
	if given := os.Getenv("AGENT_SANDBOX_KERNELS"); given != "" {
		return given
	}
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

func TestKernelsInASandboxEnd(t *testing.T) {
	c, _ := newReal(t)
	m := c.withKernels(kernelPrefix(t))
	kernels := func() string { return c.run(m, "pgrep -c -f [i]pykernel_launcher || true") }
	head := append(m.inside(49999), "Content-Type", "application/json")
	require.Equal(t, "7", c.code(m, "x = 7; x", nil).Results[0]["text"])

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	_, err := c.try(ctx, "POST", "/execute", `{"code":"while True: pass"}`, head...)
	cancel()
	require.Error(t, err)
	require.Equal(t, "7", c.code(m, "x", nil).Results[0]["text"], "a client that leaves interrupts")

	for code, reason := range map[string]string{
		"import os; os._exit(3)":             "exited with code 3",
		"import ctypes; ctypes.string_at(0)": "segmentation fault",
	} {
		r := c.code(m, code, nil)
		require.Equal(t, "KernelDied", r.Error["name"])
		require.Contains(t, r.Error["value"], reason)
		r = c.code(m, "1+1", nil)
		require.Equal(t, "2", r.Results[0]["text"])
		require.Contains(t, r.Stderr, reason)
	}
	require.Equal(t, "1\n", kernels())

	a := c.do("POST", "/contexts", `{}`, head...)
	var made struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(a.body), &made), a.body)
	require.Equal(t, "2\n", kernels())
	require.Equal(t, 200, c.do("DELETE", "/contexts/"+made.ID, "", head...).status)
	require.Equal(t, "1\n", kernels())
}

func TestAKernelOutOfMemoryEndsAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("limits of the sum are enforced for root")
	}
	c := newInterpreter(t)
	m := c.create(`{"templateID":"code-interpreter-v1"}`)
	r := c.code(m, "b = []\nwhile True: b.append(b'x' * 50_000_000)", nil)
	require.Equal(t, "KernelDied", r.Error["name"])
	require.Contains(t, r.Error["value"], "memory")
	require.Equal(t, "2", c.code(m, "1+1", nil).Results[0]["text"])
}

func TestCodeWithoutKernelsNamesTheTemplate(t *testing.T) {
	c, _ := newReal(t)
	m := c.create(`{"templateID":"base"}`)
	a := c.do("POST", "/execute", `{"code":"1+1"}`, append(m.inside(49999), "Content-Type", "application/json")...)
	require.Equal(t, 501, a.status)
	require.Contains(t, a.body, "code-interpreter-v1")
	require.Equal(t, 502, c.do("GET", "/", "", m.inside(49998)...).status)
}

// newInterpreter starts a server that has the template of the code interpreter.
func newInterpreter(t *testing.T) *client {
	t.Helper()
	out, err := exec.Command("../scripts/interpreter-template").Output()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(strings.TrimSpace(string(out)), filepath.Join(dir, "templates")))
	c, _ := newRealAt(t, dir)
	return c
}

// shown is an answer of the interpreter.
type shown struct {
	Stdout, Stderr string
	Results        []map[string]any
	Error          map[string]any
}

func (c *client) code(m made, code string, more map[string]any) *shown {
	c.t.Helper()
	body := map[string]any{"code": code}
	for k, v := range more {
		body[k] = v
	}
	b, err := json.Marshal(body)
	require.NoError(c.t, err)
	s, in := &shown{}, bufio.NewScanner(strings.NewReader(c.execute(m, string(b))))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		l := map[string]any{}
		require.NoError(c.t, json.Unmarshal(in.Bytes(), &l))
		text, _ := l["text"].(string)
		switch l["type"] {
		case "stdout":
			s.Stdout += text
		case "stderr":
			s.Stderr += text
		case "result":
			s.Results = append(s.Results, l)
		case "error":
			s.Error = l
		}
	}
	return s
}

func TestTheInterpretersTemplate(t *testing.T) {
	c := newInterpreter(t)
	m := c.create(`{"templateID":"code-interpreter-v1","envVars":{"WHO":"me"}}`)
	type more = map[string]any
	t.Run("charts are pictures and data", func(t *testing.T) {
		for code, kind := range map[string]string{
			"plt.plot([1, 2, float('nan')], [3, 4, 5], label='l'); plt.title('T')":   "line",
			"plt.scatter([1, 2], [3, 4])":                                            "scatter",
			"plt.bar(['a', 'b'], [1, 2])":                                            "bar",
			"plt.pie([1, 2], labels=['a', 'b'])":                                     "pie",
			"plt.boxplot([[1, 2, 3, 4, 5, 6, 30], [2, 3, 4, 5]], patch_artist=True)": "box_and_whisker",
			"f, (a, b) = plt.subplots(1, 2); a.plot([1, 2]); b.bar(['x'], [1])":      "superchart",
			"plt.imshow([[1, 2], [3, 4]])":                                           "unknown",
		} {
			r := c.code(m, "import matplotlib.pyplot as plt\n"+code+"; plt.show()", nil)
			require.Nil(t, r.Error, code)
			require.Len(t, r.Results, 1, code)
			require.NotEmpty(t, r.Results[0]["png"], code)
			chart, _ := r.Results[0]["chart"].(map[string]any)
			require.Equal(t, kind, chart["type"], code)
			require.Empty(t, r.Stderr, code)
		}
	})
	t.Run("tables are data, html and text", func(t *testing.T) {
		r := c.code(m, `import pandas as pd, numpy as np
pd.DataFrame({'n': [1, 2, 3], 'f': [1.5, np.nan, np.inf], 's': ['a', None, '漢'], 't': pd.to_datetime(['2026-01-02', None, '2026-01-04']), 'i': pd.array([1, None, 3], dtype='Int64'), 7: [True, False, True]})`, nil)
		require.Nil(t, r.Error)
		require.Empty(t, r.Stderr)
		d := r.Results[0]
		require.Contains(t, d["html"], "<table")
		require.Contains(t, d["text"], "2026-01-02")
		require.Equal(t, map[string]any{
			"n": []any{1.0, 2.0, 3.0}, "f": []any{1.5, nil, nil}, "s": []any{"a", nil, "漢"},
			"t": []any{"2026-01-02T00:00:00", nil, "2026-01-04T00:00:00"}, "i": []any{1.0, nil, 3.0}, "7": []any{true, false, true},
		}, d["data"])
	})
	t.Run("bash", func(t *testing.T) {
		in := more{"language": "bash"}
		require.Equal(t, "hi 漢 me\n", c.code(m, "x=hi; echo $x 漢 $WHO", in).Stdout)
		require.Equal(t, "hi\n", c.code(m, "echo $x", in).Stdout)
		in["env_vars"] = more{"CALL": "it's $x", "WHO": "other"}
		require.Equal(t, "it's $x other\n", c.code(m, `echo "$CALL $WHO"`, in).Stdout)
		delete(in, "env_vars")
		require.Equal(t, " me\n", c.code(m, `echo "$CALL $WHO"`, in).Stdout)
	})
	for _, language := range []string{"js", "javascript", "ts", "typescript"} {
		t.Run(language, func(t *testing.T) {
			in := more{"language": language}
			r := c.code(m, "var x = 40; console.log('out', '漢'); console.error('err'); x + 2", in)
			require.Nil(t, r.Error)
			require.Equal(t, "out 漢\n", r.Stdout)
			require.Equal(t, "err\n", r.Stderr)
			require.Contains(t, r.Results[0]["text"], "42")
			require.Contains(t, c.code(m, "x", in).Results[0]["text"], "40")
			require.NotNil(t, c.code(m, "throw new Error('no')", in).Error)
			in["env_vars"] = more{"CALL": "a'b"}
			require.Equal(t, "a'b me\n", c.code(m, "console.log(Deno.env.get('CALL'), Deno.env.get('WHO'))", in).Stdout)
			delete(in, "env_vars")
			require.Equal(t, "undefined\n", c.code(m, "console.log(Deno.env.get('CALL'))", in).Stdout)
		})
	}
	t.Run("types of typescript", func(t *testing.T) {
		r := c.code(m, "interface P { a: number }; const p: P = { a: 5 }; p.a", more{"language": "ts"})
		require.Contains(t, r.Results[0]["text"], "5")
	})
}

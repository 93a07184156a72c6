//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/interpreter"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// bulky is code that gives much.
type bulky struct {
	what, code string
	form       string
	count      int // of the characters that it gives
}

func bulkies() []bulky {
	const small = 100_000
	digits := 0
	for n := range small {
		digits += len(fmt.Sprintln(n))
	}
	return []bulky{
		{"20 MB printed", "for i in range(200_000): print(f'{i:099d}')", "stdout", 20_000_000},
		{"a PNG of 20 MB", "from IPython.display import Image; Image(b'\\x89PNG' * 5_000_000, format='png')", "png", 26_666_668},
		{"a line of 5 MB", "print('x' * 5_000_000)", "stdout", 5_000_001},
		{"100,000 small prints", "for i in range(100_000): print(i)", "stdout", digits},
		{"10,000 prints, each sent", "for i in range(10_000): print(i, flush=True)", "stdout", 48_890},
	}
}

// coders are the clients, each beside its peer.
func coders(sandbox string) [][2]fresh {
	node, python := filepath.Join(hostDir("node"), "client.mjs"), filepath.Join(hostDir("python"), "bin/python")
	return [][2]fresh{
		{{"Node", []string{"node", node, "agent-sandbox", sandbox}}, {"npm @e2b/code-interpreter", []string{"node", node, "@e2b/code-interpreter", sandbox}}},
		{
			{"Python, asyncio", []string{python, "bench/hosts/asynchronous.py", "agent_sandbox", "Sandbox", sandbox}},
			{"PyPI e2b-code-interpreter (asyncio)", []string{python, "bench/hosts/asynchronous.py", "e2b_code_interpreter", "AsyncSandbox", sandbox}},
		},
		{
			{"Python, blocking", []string{python, "bench/hosts/blocking.py", "agent_sandbox.sync", sandbox}},
			{"PyPI e2b-code-interpreter (blocking)", []string{python, "bench/hosts/blocking.py", "e2b_code_interpreter", sandbox}},
		},
	}
}

// codeBulk measures output and results that are large, or many: as the kernel gives
// them, and, since the kernel is slower than the clients, the same answers from
// memory.
func (b *bench) codeBulk(ctx context.Context) error {
	s, err := b.client.Create(ctx, core.CreateOptions{Template: interpreter.Template, MemoryMB: 2048})
	if err != nil {
		return err
	}
	defer func() { _, _ = s.Kill(ctx) }()
	if err := two(ctx, s); err != nil {
		return err
	}
	again, err := newReplay(b.server.SandboxURL)
	if err != nil {
		return err
	}
	defer again.Close()
	direct := b.server.SandboxURL
	b.server.SandboxURL = again.URL
	defer func() { b.server.SandboxURL = direct }()
	all := clients{}
	defer func() { all.stop() }()
	for _, pair := range coders(s.ID()) {
		for _, c := range pair {
			if all[c.name], err = b.process(ctx, c.name, c.argv...); err != nil {
				return err
			}
		}
	}
	var rows [][]string
	for _, job := range bulkies() {
		more, err := b.codeJob(ctx, s, again, all, job)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	table("Large output of code, kept and returned (ms, median of 3)",
		[]string{"what", "client", "ours, with the kernel", "e2b", "ours, replayed", "e2b", "throughput replayed, ours : e2b"}, rows...)
	fmt.Println("\nTarget: at least 2.")
	return nil
}

// codeJob is one job by all clients. "none" reads the answer and drops it.
func (b *bench) codeJob(ctx context.Context, s *native.Sandbox, again *replay, all clients, job bulky) ([][]string, error) {
	const none = "none: the answer is dropped"
	var answer []byte
	jobs := map[string]func() (time.Duration, error){none: func() (time.Duration, error) {
		return timed(func() (err error) { answer, err = b.readCode(ctx, s, job.code); return err })
	}}
	for name, p := range all {
		jobs[name] = p.timing(map[string]any{"op": "code", "code": job.code, "form": job.form, "count": job.count})
	}
	kernel, err := rounds(jobs)
	if err != nil {
		return nil, err
	}
	again.know(job.code, answer)
	replayed, err := rounds(jobs)
	if err != nil {
		return nil, err
	}
	rows := [][]string{{job.what, none, ms(kernel[none]), "", ms(replayed[none]), "", ""}}
	for _, pair := range coders("") {
		ours, theirs := pair[0].name, pair[1].name
		rows = append(rows, []string{job.what, ours, ms(kernel[ours]), ms(kernel[theirs]), ms(replayed[ours]), ms(replayed[theirs]), ratio(replayed[theirs], replayed[ours])})
	}
	return rows, nil
}

// readCode runs code and gives the answer as it is.
func (b *bench) readCode(ctx context.Context, s *native.Sandbox, code string) ([]byte, error) {
	asked, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.server.SandboxURL+"/execute", bytes.NewReader(asked))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "E2b-Sandbox-Id": s.ID(), "E2b-Sandbox-Port": strconv.Itoa(interpreter.Port), "X-Access-Token": s.Handle().Tokens.Envd,
	} {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	return io.ReadAll(resp.Body)
}

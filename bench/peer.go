//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// peer is the published npm e2b client in a Node process of its own, which
// takes one JSON line a job and answers one.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// peer installs the client below .tmp when it is not there, and connects it to
// the sandbox.
func (b *bench) peer(ctx context.Context, sandbox string) (*peer, error) {
	dir, _ := filepath.Abs(".tmp/bench-peer")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, f := range []string{"package.json", "peer.mjs"} {
		text, err := os.ReadFile(filepath.Join("bench/peer", f))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, f), text, 0o644); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules/e2b")); err != nil {
		install := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--silent")
		if out, err := install.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("npm install: %w: %s", err, out)
		}
	}
	cmd := exec.CommandContext(ctx, "node", "--expose-gc", filepath.Join(dir, "peer.mjs"), sandbox)
	cmd.Env = append(os.Environ(), "E2B_API_URL="+b.server.URL, "E2B_SANDBOX_URL="+b.server.SandboxURL, "E2B_API_KEY="+b.server.APIKey)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &peer{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

// beside runs a measurement on a new sandbox, with the peer connected to it.
func (b *bench) beside(ctx context.Context, o core.CreateOptions, measure func(*native.Sandbox, *peer) error) error {
	s, err := b.client.Create(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _, _ = s.Kill(ctx) }()
	p, err := b.peer(ctx, s.ID())
	if err != nil {
		return err
	}
	defer p.stop()
	return measure(s, p)
}

func (p *peer) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// answer of one job: times in milliseconds, and the peak RSS in KiB.
type answer struct {
	MS    []float64 `json:"ms"`
	RSS   int64     `json:"rss"`
	Error string    `json:"error"`
}

func (p *peer) job(v any) (*answer, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	text, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the npm client ended: %w", err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	if a.Error != "" {
		return nil, errors.New("npm e2b: " + a.Error)
	}
	return &a, nil
}

func (p *peer) latency(op string, n int) (samples, error) {
	a, err := p.job(map[string]any{"op": op, "n": n})
	if err != nil {
		return nil, err
	}
	var s samples
	for _, ms := range a.MS {
		s = append(s, time.Duration(ms*float64(time.Millisecond)))
	}
	return s, nil
}

// once is the time of one job with arguments.
func (p *peer) once(job map[string]any) (time.Duration, int64, error) {
	a, err := p.job(job)
	if err != nil {
		return 0, 0, err
	}
	return time.Duration(a.MS[0] * float64(time.Millisecond)), a.RSS, nil
}

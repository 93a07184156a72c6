//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// peer is the published npm e2b client in a process of its own. It installs the client below .tmp when it is not there, and connects it to
// the sandbox.
func (b *bench) peer(ctx context.Context, sandbox string) (*process, error) {
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
	return b.process(ctx, "npm e2b", "node", "--expose-gc", filepath.Join(dir, "peer.mjs"), sandbox)
}

// beside runs a measurement on a new sandbox, with the peer connected to it.
func (b *bench) beside(ctx context.Context, o core.CreateOptions, measure func(*native.Sandbox, *process) error) error {
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

//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// bench is one run: a server of its own and our client on it.
type bench struct {
	quick  bool
	part   string // of the hosts; "" = all
	dir    string
	server native.ServerInfo
	client *native.Client
}

// start runs `sandboxc serve` in a state directory of its own.
func start(ctx context.Context, quick bool) (*bench, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	return startIn(ctx, dir, quick)
}

// startIn runs it in dir, which goes with it.
func startIn(ctx context.Context, dir string, quick bool, args ...string) (*bench, error) {
	b := &bench{quick: quick, dir: dir}
	cmd := exec.CommandContext(ctx, sandboxc(), append([]string{"serve", "--detach", "--json"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "HOME="+dir)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("sandboxc serve: %w", err)
	}
	if err := json.Unmarshal(out, &b.server); err != nil {
		return nil, err
	}
	b.client, err = native.NewClient(ctx, native.Options{Arguments: setting.Arguments{Provider: "local"}, Server: &b.server})
	return b, err
}

func sandboxc() string {
	if p := os.Getenv("SANDBOXC"); p != "" {
		return p
	}
	p, _ := filepath.Abs("bin/sandboxc")
	return p
}

func (b *bench) stop() {
	_ = b.client.Close()
	_ = syscall.Kill(b.server.PID, syscall.SIGTERM)
	for range 100 {
		if syscall.Kill(b.server.PID, 0) != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = os.RemoveAll(b.dir)
}

// n is a count, reduced in a quick run.
func (b *bench) n(full int) int {
	if b.quick {
		return max(full/10, 3)
	}
	return full
}

func (b *bench) machine() {
	kernel, _ := exec.Command("uname", "-r").Output()
	fmt.Printf("Machine: %d cores, kernel %s, %s, %s.\n", runtime.NumCPU(), bytes.TrimSpace(kernel), runtime.Version(), nodeVersion())
}

func nodeVersion() string {
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		return "no node"
	}
	return "node " + strings.TrimSpace(string(out))
}

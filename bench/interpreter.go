//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/interpreter"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// interpreter measures the code interpreter on servers of its own, beside
// jupyter_client in the same sandbox and the peer's packages.
func (b *bench) interpreter(ctx context.Context) error {
	templates, err := templatesOfInterpreter(ctx)
	if err != nil {
		return err
	}
	empty, err := b.interpreting(ctx, templates, "0")
	if err != nil {
		return err
	}
	defer empty.stop()
	pooled, err := b.interpreting(ctx, templates, "2")
	if err != nil {
		return err
	}
	defer pooled.stop()
	var failed error
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"creates", func() error { return b.codeCreates(ctx, pooled, empty) }},
		{"runs", func() error { return empty.codeRuns(ctx) }},
		{"bulk", func() error { return empty.codeBulk(ctx) }},
	} {
		if b.part != "" && b.part != part.name {
			continue
		}
		if err := part.run(); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %s\n", part.name, err)
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// templatesOfInterpreter is a directory that has the interpreter's template.
func templatesOfInterpreter(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "scripts/interpreter-template")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("scripts/interpreter-template: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// interpreting starts a server that has the template and keeps pool sandboxes of it.
func (b *bench) interpreting(ctx context.Context, templates, pool string) (*bench, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	state := filepath.Join(dir, "agent-sandbox")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	if err := os.Symlink(templates, filepath.Join(state, "templates")); err != nil {
		return nil, err
	}
	return startIn(ctx, dir, b.quick, "--interpreter-pool", pool)
}

// onePlusOne makes a sandbox and runs 1+1 in it.
func (b *bench) onePlusOne(ctx context.Context) (time.Duration, error) {
	var s *native.Sandbox
	took, err := timed(func() (err error) {
		if s, err = b.client.Create(ctx, core.CreateOptions{Template: interpreter.Template}); err != nil {
			return err
		}
		return two(ctx, s)
	})
	if s != nil {
		_, _ = s.Kill(ctx)
	}
	return took, err
}

func two(ctx context.Context, s *native.Sandbox) error {
	e, err := s.RunCode(ctx, "1+1", core.CodeOptions{})
	if err == nil && e.Text() != "2" {
		err = fmt.Errorf("1+1 is %q", e.Text())
	}
	return err
}

// ready waits until the pool is full.
func (b *bench) ready(ctx context.Context) error {
	for range 1200 {
		cmd := exec.CommandContext(ctx, sandboxc(), "doctor", "--json")
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+b.dir, "HOME="+b.dir, "SANDBOX_PROVIDER=local")
		out, _ := cmd.Output() // fails for things that are not measured
		if strings.Contains(string(out), "2 of 2 are ready") {
			time.Sleep(300 * time.Millisecond) // what was begun for the pool ends
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the pool of interpreters does not fill")
}

// codeCreates measures create and 1+1, with a sandbox that waits and without one,
// which boots a kernel as jupyter_client does alone.
func (b *bench) codeCreates(ctx context.Context, pooled, empty *bench) error {
	var waited, booted, kernel samples
	for range b.n(30) {
		if err := pooled.ready(ctx); err != nil {
			return err
		}
		d, err := pooled.onePlusOne(ctx)
		if err != nil {
			return err
		}
		waited = append(waited, d)
	}
	if err := pooled.ready(ctx); err != nil { // quiet again
		return err
	}
	err := empty.direct(ctx, func(_ *native.Sandbox, direct *process) error {
		for range b.n(20) {
			d, err := empty.onePlusOne(ctx)
			if err != nil {
				return err
			}
			booted = append(booted, d)
			if d, err = direct.only("boot", 1); err != nil {
				return err
			}
			kernel = append(kernel, d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	row := func(name string, s samples, target string) []string {
		return []string{name, ms(s.p50()), ms(s.p99()), target}
	}
	table("Create a sandbox of code-interpreter-v1 and run `1+1`", []string{"what", "p50 ms", "p99 ms", "target"},
		row("one was ready", waited, "p50 at most 30"), row("none was ready", booted, ""), row("ipykernel alone, to its first answer", kernel, ""))
	fmt.Printf("\nNone ready : ipykernel alone = %s (target: at most 1.5)\n", ratio(booted.p50(), kernel.p50()))
	return nil
}

// direct runs jupyter_client in a sandbox of its own.
func (b *bench) direct(ctx context.Context, measure func(*native.Sandbox, *process) error) error {
	s, err := b.client.Create(ctx, core.CreateOptions{Template: interpreter.Template})
	if err != nil {
		return err
	}
	defer func() { _, _ = s.Kill(ctx) }()
	program, err := os.ReadFile("bench/interpreter/direct.py")
	if err != nil {
		return err
	}
	if _, err := s.Files.Write(ctx, "direct.py", program, core.WriteOptions{}); err != nil {
		return err
	}
	p, err := b.process(ctx, "jupyter_client", sandboxc(), "exec", "--provider", "e2b", "-i", s.ID(), "--", "python", "direct.py")
	if err != nil {
		return err
	}
	defer p.stop()
	return measure(s, p)
}

// only is the middle of n times.
func (p *process) only(op string, n int) (time.Duration, error) {
	s, err := p.latency(op, n)
	return s.p50(), err
}

// codeRuns measures a run in a context that is there, beside jupyter_client's.
func (b *bench) codeRuns(ctx context.Context) error {
	return b.direct(ctx, func(s *native.Sandbox, direct *process) error {
		if err := two(ctx, s); err != nil {
			return err
		}
		var ours, theirs samples
		for range 10 {
			for range b.n(100) {
				d, err := timed(func() error { return two(ctx, s) })
				if err != nil {
					return err
				}
				ours = append(ours, d)
			}
			more, err := direct.latency("run", b.n(100))
			if err != nil {
				return err
			}
			theirs = append(theirs, more...)
		}
		row := func(name string, s samples) []string { return []string{name, ms(s.p50()), ms(s.p99())} }
		table("`1+1` in a context that is there", []string{"client", "p50 ms", "p99 ms"},
			row("ours (Go), from outside", ours), row("jupyter_client, in the sandbox", theirs))
		fmt.Printf("\nOurs : jupyter_client = %s (target: at most 2; on a quiet machine at most 5 ms)\n", ratio(ours.p50(), theirs.p50()))
		return nil
	})
}

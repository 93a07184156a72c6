//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// create measures create to first answer, and create to first command finished
// beside bwrap running the same command.
func (b *bench) create(ctx context.Context) error {
	var answer, command, bwrap, burst samples
	for range b.n(200) {
		d, s, err := b.oneCreate(ctx, func(s *native.Sandbox) error { _, err := s.IsRunning(ctx); return err })
		if err != nil {
			return err
		}
		answer = append(answer, d)
		_, _ = s.Kill(ctx)
		d, s, err = b.oneCreate(ctx, func(s *native.Sandbox) error {
			_, err := s.Commands.Exec(ctx, []string{"/bin/true"}, core.RunOptions{})
			return err
		})
		if err != nil {
			return err
		}
		command = append(command, d)
		_, _ = s.Kill(ctx)
		d, err = timed(func() error {
			return exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "/bin/true").Run()
		})
		if err != nil {
			return fmt.Errorf("bwrap: %w", err)
		}
		bwrap = append(bwrap, d)
	}
	if err := b.burst(ctx, &burst); err != nil {
		return err
	}
	row := func(name string, s samples) []string { return []string{name, ms(s.p50()), ms(s.p99())} }
	table("Create", []string{"what", "p50 ms", "p99 ms"},
		row("create to first answer", answer), row("create to first command finished", command),
		row("create to first answer, faster than the disk pool refills", burst), row("bwrap --unshare-all of the same command", bwrap))
	fmt.Printf("\nCreate to first command : bwrap = %.2f (target: at most 2.5)\n", float64(command.p50())/float64(bwrap.p50()))
	return nil
}

func (b *bench) oneCreate(ctx context.Context, first func(*native.Sandbox) error) (time.Duration, *native.Sandbox, error) {
	var s *native.Sandbox
	d, err := timed(func() (err error) {
		if s, err = b.client.Create(ctx, core.CreateOptions{}); err != nil {
			return err
		}
		return first(s)
	})
	return d, s, err
}

// burst keeps what it makes, one after the other without a pause.
func (b *bench) burst(ctx context.Context, into *samples) error {
	var made []*native.Sandbox
	defer func() {
		for _, s := range made {
			_, _ = s.Kill(ctx)
		}
	}()
	for range b.n(60) {
		d, s, err := b.oneCreate(ctx, func(s *native.Sandbox) error { _, err := s.IsRunning(ctx); return err })
		if err != nil {
			return err
		}
		made = append(made, s)
		*into = append(*into, d)
	}
	return nil
}

//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// latency measures one small call: ours, the npm client's, and a bare socket
// doing the same exchange with each codec. Overhead is p50 minus the bare p50.
func (b *bench) latency(ctx context.Context) error {
	return b.beside(ctx, core.CreateOptions{}, func(s *native.Sandbox, peer *process) error { return b.smallCalls(ctx, s, peer) })
}

func (b *bench) smallCalls(ctx context.Context, s *native.Sandbox, peer *process) error {
	raw, err := b.bare(s.Handle())
	if err != nil {
		return err
	}
	defer raw.close()
	ops := []struct {
		name string
		ours func() error
		bare func(json bool) error
	}{
		{"commands.run(\"true\")", func() error { _, err := s.Commands.Run(ctx, "true", core.RunOptions{}); return err }, raw.run},
		{"files.exists", func() error { _, err := s.Files.Exists(ctx, "/etc/passwd", core.FileOptions{}); return err }, raw.stat},
	}
	for i, op := range ops {
		var ours, theirs, proto, js samples
		for range 10 { // rounds, so that a machine that drifts drifts for all
			for range b.n(100) {
				for _, m := range []struct {
					into *samples
					f    func() error
				}{{&ours, op.ours}, {&proto, func() error { return op.bare(false) }}, {&js, func() error { return op.bare(true) }}} {
					d, err := timed(m.f)
					if err != nil {
						return fmt.Errorf("%s: %w", op.name, err)
					}
					*m.into = append(*m.into, d)
				}
			}
			more, err := peer.latency([]string{"run", "exists"}[i], b.n(100))
			if err != nil {
				return err
			}
			theirs = append(theirs, more...)
		}
		over, overTheirs := ours.p50()-proto.p50(), theirs.p50()-js.p50()
		row := func(name string, s samples, over string) []string {
			return []string{name, ms(s.p50()), ms(s.p99()), over}
		}
		table(op.name, []string{"client", "p50 ms", "p99 ms", "overhead ms"},
			row("bare socket, protobuf", proto, ""), row("ours (Go)", ours, ms(over)),
			row("bare socket, JSON", js, ""), row("npm e2b", theirs, ms(overTheirs)))
		fmt.Printf("\nOverhead ours : peer = %.2f (target: at most 0.5)\n", float64(over)/float64(max(overTheirs, time.Microsecond)))
	}
	return nil
}

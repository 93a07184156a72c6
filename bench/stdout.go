//go:build linux

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// stdout measures bulk output: kept and returned as the peer does, and passed
// through without keeping it.
func (b *bench) stdout(ctx context.Context) error {
	return b.beside(ctx, core.CreateOptions{}, func(s *native.Sandbox, peer *process) error { return b.bulkOutput(ctx, s, peer) })
}

func (b *bench) bulkOutput(ctx context.Context, s *native.Sandbox, peer *process) error {
	size := 256 << 20
	if b.quick {
		size = 64 << 20
	}
	none := time.Duration(0)
	var ours, theirs samples
	for range 3 {
		d, err := timed(func() error {
			r, err := s.Commands.Run(ctx, fmt.Sprintf(`dd if=/dev/zero bs=64k count=%d status=none`, size>>16), core.RunOptions{Timeout: &none})
			if err == nil && len(r.StdoutBytes) != size {
				return fmt.Errorf("%d bytes of %d", len(r.StdoutBytes), size)
			}
			return err
		})
		if err != nil {
			return err
		}
		ours = append(ours, d)
		d, _, err = peer.once(map[string]any{"op": "stdout", "bytes": size})
		if err != nil {
			return err
		}
		theirs = append(theirs, d)
	}
	table(fmt.Sprintf("stdout of %d MiB, kept and returned", size>>20), []string{"client", "MB/s (median of 3)"},
		[]string{"ours (Go)", rate(size, ours.p50())}, []string{"npm e2b", rate(size, theirs.p50())})
	fmt.Printf("\nOurs : peer = %.1f (target: at least 4)\n", float64(theirs.p50())/float64(ours.p50()))
	return b.passedThrough(ctx, s)
}

// passedThrough runs `sandboxc exec` so that the memory is a client's alone.
func (b *bench) passedThrough(ctx context.Context, s *native.Sandbox) error {
	size := 1 << 30
	if b.quick {
		size = 128 << 20
	}
	took, rss, err := b.cli(ctx, "exec", s.ID(), "--", "dd", "if=/dev/zero", "bs=64k", "count="+strconv.Itoa(size>>16), "status=none")
	if err != nil {
		return err
	}
	table(fmt.Sprintf("stdout of %d MiB passed through `sandboxc exec`", size>>20), []string{"MB/s", "peak RSS of the client, MiB", "target"},
		[]string{rate(size, took), strconv.FormatInt(rss>>10, 10), "at most 64"})
	return nil
}

func rate(bytes int, d time.Duration) string {
	return fmt.Sprintf("%.0f", float64(bytes)/1e6/d.Seconds())
}

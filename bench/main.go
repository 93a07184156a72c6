//go:build linux

// Command bench measures what docs/performance.md states: our Go client and
// local provider beside the published npm e2b client, curl, bwrap and a bare
// socket, on one server, in one run. It prints Markdown.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	quick := flag.Bool("quick", false, "a tenth of the counts and sizes")
	only := flag.String("only", "", "one section: create, latency, stdout, files, hosts, interpreter, cycles, alive; or hosts.calls, .output, .files, .starts, .exits, interpreter.creates, .runs, .bulk")
	flag.Parse()
	if err := run(context.Background(), *quick, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, quick bool, only string) error {
	b, err := start(ctx, quick)
	if err != nil {
		return err
	}
	defer b.stop()
	only, b.part, _ = strings.Cut(only, ".")
	b.machine()
	for _, s := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"create", b.create},
		{"latency", b.latency},
		{"stdout", b.stdout},
		{"files", b.files},
		{"hosts", b.hosts},
		{"interpreter", b.interpreter},
		{"cycles", b.cycles},
		{"alive", b.alive},
	} {
		if only != "" && only != s.name {
			continue
		}
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

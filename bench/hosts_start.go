//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fresh is a program that starts, runs one command, and ends.
type fresh struct {
	name string
	argv []string
}

// freshOnes are those of every host; sandbox "" makes one each.
func freshOnes(sandbox string) [][2]fresh {
	node, python := filepath.Join(hostDir("node"), "cold.mjs"), filepath.Join(hostDir("python"), "bin/python")
	with := func(argv ...string) []string {
		if sandbox != "" {
			argv = append(argv, sandbox)
		}
		return argv
	}
	return [][2]fresh{
		{{"Node", with("node", node, "agent-sandbox")}, {"npm e2b", with("node", node, "e2b")}},
		{
			{"Python, asyncio", with(python, "bench/hosts/cold_asynchronous.py", "agent_sandbox", "Sandbox")},
			{"PyPI e2b (asyncio)", with(python, "bench/hosts/cold_asynchronous.py", "e2b", "AsyncSandbox")},
		},
		{
			{"Python, blocking", with(python, "bench/hosts/cold_blocking.py", "agent_sandbox.sync")},
			{"PyPI e2b (blocking)", with(python, "bench/hosts/cold_blocking.py", "e2b")},
		},
	}
}

// fresh gives the milliseconds that the program prints.
func (b *bench) fresh(ctx context.Context, f fresh) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, f.argv[0], f.argv[1:]...)
	cmd.Env = b.environ()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", f.name, err, errs.String())
	}
	took, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return time.Duration(took * float64(time.Millisecond)), err
}

// surely is fresh, once more for a process that was ended by a signal: a peer's
// sometimes is as it exits, and exits counts that.
func (b *bench) surely(ctx context.Context, f fresh) (time.Duration, error) {
	for try := 1; ; try++ {
		d, err := b.fresh(ctx, f)
		var ended *exec.ExitError
		if try == 5 || !errors.As(err, &ended) || ended.Exited() {
			return d, err
		}
	}
}

// hostStarts measures import to first finished command, in fresh processes.
func (b *bench) hostStarts(ctx context.Context, sandbox string, all clients) error {
	var rows [][]string
	for _, where := range []struct{ name, sandbox string }{{"connect", sandbox}, {"create", ""}} {
		for _, both := range freshOnes(where.sandbox) {
			var took [2]samples
			for range b.n(20) {
				for i, f := range both {
					d, err := b.surely(ctx, f)
					if err != nil {
						return err
					}
					took[i] = append(took[i], d)
				}
			}
			ours, theirs := took[0].p50(), took[1].p50()
			rows = append(rows, []string{both[0].name, where.name, ms(ours), ms(theirs), ratio(ours, theirs), "0.50"})
		}
	}
	for _, cache := range []struct {
		name string
		warm bool
	}{{"connect, empty cache", false}, {"connect, warm cache", true}} {
		a, err := all["ours (Chromium)"].job(map[string]any{"op": "cold", "n": b.n(20), "warm": cache.warm})
		if err != nil {
			return err
		}
		var c call
		c.add(a)
		rows = append(rows, []string{"Chromium", cache.name, ms(c.p50()), "", "", map[bool]string{false: "250 ms", true: "120 ms"}[cache.warm]})
	}
	table("Import to first finished command, fresh processes (ms, p50)", []string{"host", "sandbox by", "ours", "e2b", "ours : e2b", "at most"}, rows...)
	return nil
}

// exits counts processes that do not end well after one command, two at a time.
func (b *bench) exits(ctx context.Context, sandbox string) error {
	var rows [][]string
	for _, both := range freshOnes(sandbox)[1:] {
		for _, f := range both {
			bad := b.endings(ctx, f, b.n(1000))
			rows = append(rows, []string{f.name, strconv.Itoa(b.n(1000)), strconv.Itoa(bad)})
		}
	}
	table("Fresh Python processes, one command each, two at a time", []string{"client", "processes", "that ended badly"}, rows...)
	return nil
}

func (b *bench) endings(ctx context.Context, f fresh, n int) (bad int) {
	var group sync.WaitGroup
	var guard sync.Mutex
	for range 2 {
		group.Go(func() {
			for range n / 2 {
				_, err := b.fresh(ctx, f)
				if err == nil {
					continue
				}
				guard.Lock()
				bad++
				if bad == 1 {
					fmt.Fprintln(os.Stderr, err)
				}
				guard.Unlock()
			}
		})
	}
	group.Wait()
	return bad
}

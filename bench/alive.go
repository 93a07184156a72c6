//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// alive measures the memory of many sandboxes at once.
func (b *bench) alive(ctx context.Context) error {
	before := b.usage()
	var made []*native.Sandbox
	defer func() {
		for _, s := range made {
			_, _ = s.Kill(ctx)
		}
	}()
	count := b.n(500)
	for range count {
		s, err := b.client.Create(ctx, core.CreateOptions{})
		if err != nil {
			return err
		}
		made = append(made, s)
	}
	time.Sleep(2 * time.Second)
	after := b.usage()
	per := float64(after.pss-before.pss) / float64(count) / 1024
	table("Alive at once", []string{"sandboxes", "our PSS each, MiB", "target"},
		[]string{strconv.Itoa(count), fmt.Sprintf("%.2f", per), "at most 8"})
	return nil
}

// cycles shows that create and kill leave nothing.
func (b *bench) cycles(ctx context.Context) error {
	for range 20 { // pools and caches fill
		if err := b.cycle(ctx); err != nil {
			return err
		}
	}
	time.Sleep(time.Second)
	before := b.usage()
	count := b.n(1000)
	for range count {
		if err := b.cycle(ctx); err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second)
	after := b.usage()
	row := func(name string, x, y int64) []string {
		return []string{name, strconv.FormatInt(x, 10), strconv.FormatInt(y, 10)}
	}
	table(fmt.Sprintf("%d create-kill cycles", count), []string{"what", "before", "after"},
		row("processes", before.processes, after.processes), row("mounts of the host", before.mounts, after.mounts),
		row("descriptors of the server", before.descriptors, after.descriptors), row("cgroups", before.cgroups, after.cgroups),
		row("files and directories of state", before.files, after.files), row("RSS of the server, KiB", before.rss, after.rss))
	return nil
}

func (b *bench) cycle(ctx context.Context) error {
	s, err := b.client.Create(ctx, core.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = s.Kill(ctx)
	return err
}

type usage struct{ processes, mounts, descriptors, cgroups, files, rss, pss int64 }

// usage reads what the server and everything below it hold.
func (b *bench) usage() usage {
	var u usage
	server := filepath.Join("/proc", strconv.Itoa(b.server.PID))
	for _, pid := range family(b.server.PID) {
		u.processes++
		u.pss += field(filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup"), "Pss:")
	}
	u.rss = field(filepath.Join(server, "status"), "VmRSS:")
	u.mounts = lines("/proc/self/mounts")
	fds, _ := os.ReadDir(filepath.Join(server, "fd"))
	u.descriptors = int64(len(fds))
	_ = filepath.WalkDir("/sys/fs/cgroup", func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			u.cgroups++
		}
		return nil
	})
	_ = filepath.WalkDir(b.dir, func(string, os.DirEntry, error) error { u.files++; return nil })
	return u
}

// family is a process and all its descendants.
func family(root int) []int {
	children := map[int][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range dirs {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		rest := string(text[strings.LastIndexByte(string(text), ')')+1:])
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if parts := strings.Fields(rest); len(parts) > 1 {
			parent, _ := strconv.Atoi(parts[1])
			children[parent] = append(children[parent], pid)
		}
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

func field(file, name string) int64 {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), name); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

func lines(file string) int64 {
	b, _ := os.ReadFile(file)
	return int64(strings.Count(string(b), "\n"))
}

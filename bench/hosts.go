//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// pair is one host: our package and, where there is one, the peer's, and what
// their ratios have to keep.
type pair struct {
	host         string
	ours, theirs string
	cpu          float64 // processor time a call, at most
	stdout       float64 // rate of kept output, at least
	bare         string  // the client that does the same with a bare HTTP library; "" = our own process
	libraries    string  // its name
}

func pairs() []pair {
	return []pair{
		{"Node", "ours (Node)", "npm e2b", 0.5, 3, "bare Node", "node:http"},
		{"Python, asyncio", "ours (asyncio)", "PyPI e2b (asyncio)", 0.5, 4, "bare Python", "http.client"},
		{"Python, blocking", "ours (blocking)", "PyPI e2b (blocking)", 0.7, 2, "bare Python", "http.client"},
		{"Chromium", "ours (Chromium)", "", 0, 0, "", "fetch"},
	}
}

// commandsOf say how each client is started, on a sandbox.
func commandsOf(sandbox string) map[string][]string {
	node, python := hostDir("node"), filepath.Join(hostDir("python"), "bin/python")
	mjs := func(program string) string { return filepath.Join(node, program) }
	return map[string][]string{
		"ours (Node)":         {"node", mjs("client.mjs"), "agent-sandbox", sandbox},
		"npm e2b":             {"node", mjs("client.mjs"), "e2b", sandbox},
		"bare Node":           {"node", mjs("client.mjs"), "none", sandbox},
		"ours (asyncio)":      {python, "bench/hosts/asynchronous.py", "agent_sandbox", "Sandbox", sandbox},
		"PyPI e2b (asyncio)":  {python, "bench/hosts/asynchronous.py", "e2b", "AsyncSandbox", sandbox},
		"ours (blocking)":     {python, "bench/hosts/blocking.py", "agent_sandbox.sync", sandbox},
		"PyPI e2b (blocking)": {python, "bench/hosts/blocking.py", "e2b", sandbox},
		"bare Python":         {python, "bench/hosts/blocking.py", "none", sandbox},
		"ours (Chromium)":     {"node", mjs("browser.mjs"), filepath.Join(node, "node_modules/agent-sandbox/dist"), sandbox},
	}
}

// hostDir is where bench/hosts/install put the packages of a language.
func hostDir(language string) string {
	dir, _ := filepath.Abs(filepath.Join(".tmp/bench", language))
	return dir
}

// clients are the processes of all hosts on one sandbox.
type clients map[string]*process

func (c clients) stop() {
	for _, p := range c {
		p.stop()
	}
}

// hosts measures the bindings as users install them, beside the peer's packages
// and a bare HTTP library.
func (b *bench) hosts(ctx context.Context) error {
	s, err := b.client.Create(ctx, core.CreateOptions{MemoryMB: 2048})
	if err != nil {
		return err
	}
	defer func() { _, _ = s.Kill(ctx) }()
	all := clients{}
	defer func() { all.stop() }()
	for name, argv := range commandsOf(s.ID()) {
		if all[name], err = b.process(ctx, name, argv...); err != nil {
			return err
		}
	}
	var failed error
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"calls", func() error { return b.hostCalls(s, all) }},
		{"output", func() error { return b.hostOutput(all) }},
		{"files", func() error { return b.hostFiles(s, all) }},
		{"starts", func() error { return b.hostStarts(ctx, s.ID(), all) }},
		{"exits", func() error { return b.exits(ctx, s.ID()) }},
	} {
		if b.part != "" && b.part != part.name {
			continue
		}
		if err := part.run(); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %s\n", part.name, err) // now: others go on for minutes
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// call is what one client's small calls came to.
type call struct {
	samples
	cpu float64 // milliseconds of all together
	rss int64   // KiB
}

func (c *call) add(a *answer) {
	for _, ms := range a.MS {
		c.samples = append(c.samples, time.Duration(ms*float64(time.Millisecond)))
	}
	c.cpu += a.CPU
	c.rss = a.RSS
}

func (c *call) cpuEach() float64 { return c.cpu / float64(max(len(c.samples), 1)) }

// hostCalls measures commands.run("true") of every host, in rounds.
func (b *bench) hostCalls(s *native.Sandbox, all clients) error {
	raw, err := b.bare(s.Handle())
	if err != nil {
		return err
	}
	defer raw.close()
	calls := map[string]*call{}
	var proto, js samples
	for range 10 {
		for range b.n(50) {
			for into, asJSON := range map[*samples]bool{&proto: false, &js: true} {
				d, err := timed(func() error { return raw.run(asJSON) })
				if err != nil {
					return err
				}
				*into = append(*into, d)
			}
		}
		for _, name := range names() {
			a, err := all[name].job(map[string]any{"op": "run", "n": b.n(50)})
			if err != nil {
				return err
			}
			if calls[name] == nil {
				calls[name] = &call{}
			}
			calls[name].add(a)
		}
	}
	tellCalls(calls, proto, js)
	return nil
}

// names are the clients that do the same jobs, each beside its peer.
func names() []string {
	var out []string
	for _, p := range pairs() {
		out = append(out, p.ours)
		if p.theirs != "" {
			out = append(out, p.theirs)
		}
	}
	return out
}

func tellCalls(calls map[string]*call, proto, js samples) {
	rows := [][]string{
		{"bare socket, protobuf", ms(proto.p50()), ms(proto.p99()), "", "", ""},
		{"bare socket, JSON", ms(js.p50()), ms(js.p99()), "", "", ""},
	}
	ratios := [][]string{}
	row := func(name string, bare samples) (time.Duration, *call) {
		c := calls[name]
		over := c.p50() - bare.p50()
		cpu, rss := "", ""
		if c.cpu > 0 {
			cpu, rss = fmt.Sprintf("%.2f", c.cpuEach()), strconv.FormatInt(c.rss>>10, 10)
		}
		rows = append(rows, []string{name, ms(c.p50()), ms(c.p99()), ms(over), cpu, rss})
		return over, c
	}
	for _, p := range pairs() {
		over, ours := row(p.ours, proto)
		if p.theirs == "" {
			continue
		}
		overTheirs, theirs := row(p.theirs, js)
		ratios = append(ratios, []string{
			p.host,
			fmt.Sprintf("%.2f", float64(over)/float64(max(overTheirs, time.Microsecond))), "0.50",
			fmt.Sprintf("%.2f", ours.cpuEach()/theirs.cpuEach()), fmt.Sprintf("%.2f", p.cpu),
		})
	}
	table(`commands.run("true") from every host`, []string{"client", "p50 ms", "p99 ms", "overhead ms", "CPU ms a call", "peak RSS, MiB"}, rows...)
	table("Ours : peer", []string{"host", "overhead", "at most", "CPU", "at most"}, ratios...)
}

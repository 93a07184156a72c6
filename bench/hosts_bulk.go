//go:build linux

package main

import (
	"fmt"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// bulk is the size of what the hosts pass: 100 MiB.
func (b *bench) bulk() int {
	if b.quick {
		return 32 << 20
	}
	return 100 << 20
}

// turns is how often each transfer is made: they differ much from one time to the next.
const turns = 7

// rounds runs each job that often, in turns, and gives the middle of each.
func rounds(jobs map[string]func() (time.Duration, error)) (map[string]time.Duration, error) {
	took := map[string]samples{}
	for range turns {
		for name, do := range jobs {
			d, err := do()
			if err != nil {
				return nil, err
			}
			took[name] = append(took[name], d)
		}
	}
	middle := map[string]time.Duration{}
	for name, s := range took {
		middle[name] = s.p50()
	}
	return middle, nil
}

func (p *process) timing(job map[string]any) func() (time.Duration, error) {
	return func() (time.Duration, error) { d, _, err := p.once(job); return d, err }
}

// hostOutput measures output that is kept and returned.
func (b *bench) hostOutput(all clients) error {
	size := b.bulk()
	jobs := map[string]func() (time.Duration, error){}
	for _, name := range names() {
		jobs[name] = all[name].timing(map[string]any{"op": "stdout", "bytes": size})
	}
	took, err := rounds(jobs)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, p := range pairs() {
		row := []string{p.host, rate(size, took[p.ours]), "", "", ""}
		if p.theirs != "" {
			row = []string{p.host, rate(size, took[p.ours]), rate(size, took[p.theirs]), ratio(took[p.theirs], took[p.ours]), fmt.Sprint(p.stdout)}
		}
		rows = append(rows, row)
	}
	table(fmt.Sprintf("stdout of %d MiB from every host, kept and returned (MB/s, median of %d)", size>>20, turns),
		[]string{"host", "ours", "e2b", "ours : e2b", "at least"}, rows...)
	return nil
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }

// hostFiles measures one large file up and down, bytes to bytes.
func (b *bench) hostFiles(s *native.Sandbox, all clients) error {
	up, err := s.UploadURL(bigFile, core.URLOptions{})
	if err != nil {
		return err
	}
	down, err := s.DownloadURL(bigFile, core.URLOptions{})
	if err != nil {
		return err
	}
	size := b.bulk()
	var rows [][]string
	for _, way := range []struct{ op, url string }{{"upload", up}, {"download", down}} {
		more, err := b.hostFile(all, way.op, way.url, size)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	table(fmt.Sprintf("Files of %d MiB from every host (MB/s, median of %d)", size>>20, turns),
		[]string{"host", "way", "ours", "bare", "e2b", "ours : bare", "ours : e2b"}, rows...)
	fmt.Println("\nTargets: ours : bare at least 0.8, ours : e2b at least 1.2.")
	return nil
}

func (b *bench) hostFile(all clients, op, url string, size int) ([][]string, error) {
	jobs := map[string]func() (time.Duration, error){}
	bareOf := func(p pair) string {
		if p.bare == "" {
			return p.ours
		}
		return p.bare
	}
	for _, p := range pairs() {
		jobs[p.ours] = all[p.ours].timing(map[string]any{"op": op, "path": bigFile, "bytes": size})
		jobs["bare "+bareOf(p)] = all[bareOf(p)].timing(map[string]any{"op": "bare_" + op, "url": url, "bytes": size})
		if p.theirs != "" {
			jobs[p.theirs] = all[p.theirs].timing(map[string]any{"op": op, "path": bigFile, "bytes": size})
		}
	}
	took, err := rounds(jobs)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, p := range pairs() {
		ours, bare := took[p.ours], took["bare "+bareOf(p)]
		row := []string{p.host, op, rate(size, ours), rate(size, bare) + " (" + p.libraries + ")", "", ratio(bare, ours), ""}
		if p.theirs != "" {
			row[4], row[6] = rate(size, took[p.theirs]), ratio(took[p.theirs], ours)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

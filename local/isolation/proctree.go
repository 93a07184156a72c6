//go:build linux

package isolation

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// processInfo is one line of the host's process table.
type processInfo struct {
	pid, parent int
	state       byte
	cpu         time.Duration
	rss         int64
}

// clockTick is the unit of times in /proc, the same on every architecture.
const clockTick = 10 * time.Millisecond

// processTree lists root and its descendants, parents before children.
func processTree(root int) []processInfo {
	children := map[int][]processInfo{}
	var list []processInfo
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, ok := readProcess(pid)
		if !ok {
			continue
		}
		if pid == root {
			list = append(list, p)
		}
		children[p.parent] = append(children[p.parent], p)
	}
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i].pid]...)
	}
	return list
}

func readProcess(pid int) (processInfo, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return processInfo{}, false
	}
	// The name in brackets may hold anything, brackets and spaces too.
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 22 {
		return processInfo{}, false
	}
	n := func(i int) int64 { v, _ := strconv.ParseInt(f[i], 10, 64); return v }
	return processInfo{
		pid: pid, state: f[0][0], parent: int(n(1)),
		// With that of children that were waited for.
		cpu: time.Duration(n(11)+n(12)+n(13)+n(14)) * clockTick,
		rss: n(21) * int64(os.Getpagesize()),
	}, true
}

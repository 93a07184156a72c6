//go:build linux

package guest

import (
	"os"
	"strconv"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// oomKills counts the processes of the sandbox that the system killed for want of
// memory: the line oom_kill of its control group. It is nil without a group.
func (p *process1) oomKills() func() int64 {
	f, ok := p.trees[boot.FDMemoryEvents]
	if !ok {
		return nil
	}
	return func() int64 { return oomKillsOf(f) }
}

func oomKillsOf(f *os.File) int64 {
	b := make([]byte, 1024)
	n, _ := f.ReadAt(b, 0)
	for line := range strings.Lines(string(b[:n])) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok {
			kills, _ := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
			return kills
		}
	}
	return 0
}

//go:build linux

package guest

import (
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// meter measures the sandbox from inside: /proc shows its processes only,
// but the machine's memory and processors, so that totals are the limits.
type meter struct {
	cfg *boot.Config

	mu   sync.Mutex
	cpu  time.Duration
	when time.Time
}

// clockTick is the unit of times in /proc, the same on every architecture.
const clockTick = 10 * time.Millisecond

// usage is what a sandbox uses now; percentages are since the last call.
func (m *meter) usage() (daemon.Usage, error) {
	now := time.Now()
	cpu, mem := processes()
	u := daemon.Usage{
		Time: now.Unix(), CPUCount: max(1, int(math.Ceil(m.cfg.CPUs))),
		MemTotal: m.cfg.MemoryBytes, MemUsed: mem,
		MemTotalMiB: m.cfg.MemoryBytes >> 20, MemUsedMiB: mem >> 20,
	}
	m.mu.Lock()
	if since := now.Sub(m.when); !m.when.IsZero() && since > 0 {
		u.CPUPercent = max(0, 100*float64(cpu-m.cpu)/float64(since)/float64(u.CPUCount))
	}
	m.cpu, m.when = cpu, now
	m.mu.Unlock()
	var st unix.Statfs_t
	if err := unix.Statfs("/", &st); err != nil {
		return u, err
	}
	u.DiskTotal = int64(st.Blocks) * st.Bsize
	u.DiskUsed = int64(st.Blocks-st.Bfree) * st.Bsize
	return u, nil
}

// processes sums processor time and resident memory.
func processes() (cpu time.Duration, memory int64) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, 0
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		s := string(b)
		f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
		if len(f) < 22 {
			continue
		}
		n := func(i int) int64 { v, _ := strconv.ParseInt(f[i], 10, 64); return v }
		// With that of children that were waited for.
		cpu += time.Duration(n(11)+n(12)+n(13)+n(14)) * clockTick
		memory += n(21) * int64(os.Getpagesize())
	}
	return cpu, memory
}

package daemon

import (
	"bytes"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is what a sandbox uses, in bytes where not said otherwise (GET /metrics,
// e2b.md 3.2).
type Usage struct {
	// Time is in unix seconds.
	Time     int64 `json:"ts"`
	CPUCount int   `json:"cpu_count"`
	// CPUPercent is in percent of all CPUs since the last look.
	CPUPercent float64 `json:"cpu_used_pct"`
	MemTotal   int64   `json:"mem_total"`
	MemUsed    int64   `json:"mem_used"`
	MemCache   int64   `json:"mem_cache"`
	// MemTotalMiB and MemUsedMiB are MemTotal and MemUsed again.
	MemTotalMiB int64 `json:"mem_total_mib"`
	MemUsedMiB  int64 `json:"mem_used_mib"`
	DiskUsed    int64 `json:"disk_used"`
	DiskTotal   int64 `json:"disk_total"`
}

func (d *Daemon) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	usage, err := d.usage()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "error reading metrics: "+err.Error())
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, usage)
}

// meter reads the usage of the whole machine, as far as this process sees it.
type meter struct {
	mu    sync.Mutex
	busy  uint64
	total uint64
}

func newMeter() *meter { return &meter{} }

func (m *meter) usage() (Usage, error) {
	u := Usage{Time: time.Now().Unix(), CPUCount: runtime.NumCPU()}
	if err := readMemory(&u); err != nil {
		return u, err
	}
	var disk unix.Statfs_t
	if err := unix.Statfs("/", &disk); err != nil {
		return u, err
	}
	u.DiskTotal = int64(disk.Blocks) * disk.Bsize
	u.DiskUsed = int64(disk.Blocks-disk.Bfree) * disk.Bsize
	u.CPUPercent = m.cpu()
	return u, nil
}

func readMemory(u *Usage) error {
	content, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return err
	}
	kib := make(map[string]int64)
	for line := range bytes.Lines(content) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if n, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
			kib[string(fields[0])] = n
		}
	}
	u.MemTotal = kib["MemTotal:"] << 10
	u.MemUsed = (kib["MemTotal:"] - kib["MemAvailable:"]) << 10
	u.MemCache = kib["Cached:"] << 10
	u.MemTotalMiB, u.MemUsedMiB = u.MemTotal>>20, u.MemUsed>>20
	return nil
}

// cpu is the share of busy ticks of /proc/stat since the last call, in percent
// with two decimals.
func (m *meter) cpu() float64 {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	first, _, _ := bytes.Cut(content, []byte("\n"))
	var busy, total uint64
	for i, field := range bytes.Fields(first) {
		n, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil || i > 8 {
			continue
		}
		total += n
		// Fields 4 and 5 are idle and waiting for I/O (proc_stat(5)).
		if i != 4 && i != 5 {
			busy += n
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	passed, used := total-m.total, busy-m.busy
	m.busy, m.total = busy, total
	if passed == 0 || used > passed {
		return 0
	}
	return float64(used*10000/passed) / 100
}

//go:build linux

package isolation

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is what a sandbox uses now. Sizes are in bytes.
type Usage struct {
	// CPU is the processor time since the start.
	CPU time.Duration
	// MemUsed includes MemCache, what the system could take back.
	MemUsed, MemTotal, MemCache int64
	DiskUsed, DiskTotal         int64
	Pids                        int
}

// Usage measures the sandbox.
func (b *Box) Usage() (Usage, error) {
	if b.ended() {
		return Usage{}, ErrGone
	}
	u := Usage{MemTotal: b.memoryLimit(), DiskTotal: b.plot.disk.size}
	b.countProcesses(&u)
	b.plot.disk.measure(&u)
	return u, nil
}

func (b *Box) countProcesses(u *Usage) {
	c := b.cage
	switch {
	case c.has("", "memory.current"):
		u.MemUsed, u.MemCache = c.number("", "memory.current"), c.stat("", "memory.stat", "file")
	case c.has("memory", "memory.usage_in_bytes"):
		u.MemUsed = c.number("memory", "memory.usage_in_bytes")
		u.MemCache = c.stat("memory", "memory.stat", "total_cache")
	}
	switch {
	case c.dirs[""] != "":
		u.CPU = time.Duration(c.stat("", "cpu.stat", "usage_usec")) * time.Microsecond
	case c.dirs["cpuacct"] != "":
		u.CPU = time.Duration(c.number("cpuacct", "cpuacct.usage"))
	}
	switch {
	case c.has("", "pids.current"):
		u.Pids = int(c.number("", "pids.current"))
	case c.dirs["pids"] != "":
		u.Pids = int(c.number("pids", "pids.current"))
	}
	if u.MemUsed > 0 && u.CPU > 0 && u.Pids > 0 {
		return
	}
	b.sumTree(u)
}

// sumTree fills in what no control group tells.
func (b *Box) sumTree(u *Usage) {
	var sum Usage
	for _, p := range processTree(b.cmd.Process.Pid) {
		sum.Pids++
		sum.CPU += p.cpu
		sum.MemUsed += p.rss
	}
	if u.MemUsed == 0 {
		u.MemUsed = sum.MemUsed
	}
	if u.CPU == 0 {
		u.CPU = sum.CPU
	}
	if u.Pids == 0 {
		u.Pids = sum.Pids
	}
}

func (d *disk) measure(u *Usage) {
	if d.tree == nil {
		u.DiskUsed = treeSize(d.dir)
		return
	}
	var st unix.Statfs_t
	var err error
	// The sandbox may end meanwhile: Control holds the descriptor against a close.
	raw, rawErr := d.tree.SyscallConn()
	if rawErr != nil || raw.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &st) }) != nil || err != nil {
		return
	}
	u.DiskTotal = int64(st.Blocks) * st.Bsize
	u.DiskUsed = int64(st.Blocks-st.Bfree) * st.Bsize
}

// treeSize adds up what the files below dir take; what cannot be read counts
// as nothing.
func treeSize(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				sum += st.Blocks * 512
			}
		}
		return nil
	})
	return sum
}

package native

import (
	"sync"

	"github.com/agent-sandbox/agent-sandbox/core"
)

// CopyOptions shape a copy between this machine and a sandbox.
type CopyOptions struct {
	User string // whose the files become inside; "" = the sandbox's default user
	// Progress is told of bytes as they pass, from several goroutines, one at a time.
	Progress func(path string, bytes int64)
}

// CopyReport says what a copy did.
type CopyReport struct {
	Files, Directories int
	Bytes              int64
	// Skipped are the paths that cannot be copied: devices, sockets, and links
	// that lead out of the tree.
	Skipped []string
}

// counting guards a report and a progress callback.
type counting struct {
	mu       sync.Mutex
	report   CopyReport
	progress func(path string, bytes int64)
}

func (c *counting) moved(path string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Bytes += n
	if c.progress != nil {
		c.progress(path, n)
	}
}

func (c *counting) file() { c.count(func(r *CopyReport) { r.Files++ }) }

func (c *counting) directory() { c.count(func(r *CopyReport) { r.Directories++ }) }

func (c *counting) skip(path string) {
	c.count(func(r *CopyReport) { r.Skipped = append(r.Skipped, path) })
}

func (c *counting) count(change func(*CopyReport)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.report)
}

// atOnce is how many files travel at the same time.
const atOnce = 8

func (o CopyOptions) files() core.FileOptions { return core.FileOptions{User: o.User} }

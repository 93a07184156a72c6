//go:build linux

package isolation

import (
	"context"
	"time"
)

// watchPeriod is how often a disk without a limit of its own is measured.
const watchPeriod = time.Second

// watchShare bounds the part of the time that measuring takes.
const watchShare = 20

// watchDisk freezes the sandbox when its files take more than its limit. It
// ends with the sandbox.
func (b *Box) watchDisk() {
	if b.plot.disk.tree != nil {
		return
	}
	wait := watchPeriod
	for {
		select {
		case <-b.done:
			return
		case <-time.After(wait):
		}
		began := time.Now()
		full := treeSize(b.plot.disk.dir) > b.plot.disk.size
		wait = max(watchPeriod, watchShare*time.Since(began))
		if !full {
			continue
		}
		b.full.Store(true)
		if err := b.Pause(context.Background()); err != nil && !b.ended() {
			b.engine.log.Warn("a sandbox over its disk limit could not be frozen", "sandbox", b.id, "error", err)
		}
	}
}

// Full tells that the sandbox was frozen because it reached its disk limit.
// Resume lets it go on for a second, to delete files.
func (b *Box) Full() bool { return b.full.Load() }

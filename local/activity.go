//go:build linux

package local

import (
	"sync"
	"time"
)

// activity counts what is under way, and remembers when the last of it ended.
type activity struct {
	mu    sync.Mutex
	count int
	ended time.Time
}

func newActivity() *activity { return &activity{ended: time.Now()} }

// begin counts one more; the returned function ends it.
func (a *activity) begin() (end func()) {
	a.mu.Lock()
	a.count++
	a.mu.Unlock()
	return func() {
		a.mu.Lock()
		a.count--
		a.ended = time.Now()
		a.mu.Unlock()
	}
}

// touch notes that something ended now.
func (a *activity) touch() { a.begin()() }

func (a *activity) last() (ended time.Time, busy bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended, a.count > 0
}

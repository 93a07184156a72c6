package egress

import (
	"sync/atomic"
	"syscall"
)

// descriptorsEach is what one connection holds at most: both ends, and a pipe
// for each direction.
const descriptorsEach = 6

// budget bounds the connections of all sandboxes together, so that they leave
// half of this process's descriptors to everything else.
type budget struct {
	most int64
	used atomic.Int64
}

func newBudget() *budget {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		limit.Cur = 1024
	}
	return &budget{most: max(int64(min(limit.Cur, 1<<30))/2/descriptorsEach, 16)}
}

// enter takes one connection's share; false when there is none.
func (b *budget) enter() bool {
	if b.used.Add(1) > b.most {
		b.used.Add(-1)
		return false
	}
	return true
}

func (b *budget) leave() { b.used.Add(-1) }

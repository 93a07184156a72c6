package interpreter

import (
	"sync"

	"github.com/agent-sandbox/agent-sandbox/local/interpreter/jupyter"
)

// Sizes of an inbox in bytes. A kernel that waits for its reader needs a small
// one; of others, what a slow client leaves behind would be lost.
const (
	inboxWaits = 1 << 20
	inboxDrops = 64 << 20
)

// inbox are the messages that were read of a kernel and not yet passed on. Make
// it with newInbox.
type inbox struct {
	limit int

	mu      sync.Mutex
	changed sync.Cond
	list    []*jupyter.Message
	size    int
	// working is set while one is passed on, closed after the last one.
	working, closed bool
}

func newInbox(limit int) *inbox {
	in := &inbox{limit: limit}
	in.changed.L = &in.mu
	return in
}

// put adds a message, after waiting for room.
func (in *inbox) put(m *jupyter.Message) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.size > 0 && in.size+len(m.Content) > in.limit {
		in.changed.Wait()
	}
	in.list = append(in.list, m)
	in.size += len(m.Content)
	in.changed.Broadcast()
}

// take waits for the next message; more = there is another one already. The one
// before counts as passed on. ok is false at the end.
func (in *inbox) take() (m *jupyter.Message, more, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.working = false
	for len(in.list) == 0 {
		if in.closed {
			return nil, false, false
		}
		in.changed.Wait()
	}
	m = in.list[0]
	in.list[0] = nil
	in.list = in.list[1:]
	in.size -= len(m.Content)
	in.working = true
	in.changed.Broadcast()
	return m, len(in.list) > 0, true
}

// close ends it after what is in it.
func (in *inbox) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.changed.Broadcast()
}

// busy reports whether something is waiting or being passed on.
func (in *inbox) busy() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.working || len(in.list) > 0
}

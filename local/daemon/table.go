package daemon

import (
	"cmp"
	"os"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
)

// keepEnded is how long the end of a command can still be asked for (e2b.md 3.4).
const keepEnded = 30 * time.Second

// firstUnborn is above every pid of Linux (PID_MAX_LIMIT): commands that could
// not be executed are numbered from here.
const firstUnborn = 1 << 22

// table knows the commands by pid and tag.
type table struct {
	mu     sync.Mutex
	live   map[uint32]*command
	ended  []*command
	held   map[*os.File]struct{}
	unborn uint32
	closed bool

	unwanted unwanted
}

func newTable() *table {
	return &table{live: make(map[uint32]*command), held: make(map[*os.File]struct{}), unborn: firstUnborn}
}

// add lists a running command. It refuses when the daemon has closed, and when a
// kill was here before the command.
func (t *table) add(c *command) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return connect.NewError(connect.CodeUnavailable, errStopping)
	}
	if t.unwanted.has(c.tag) {
		return connect.NewError(connect.CodeCanceled, errUnwanted)
	}
	t.live[c.pid] = c
	return nil
}

// wants tells whether a command of that tag may still be started.
func (t *table) wants(tag *string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.unwanted.has(tag)
}

// refuse gives the live command of a tag or, where there is none yet, sees to it
// that it does not start.
func (t *table) refuse(tag string) *command {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.live {
		if c.tag != nil && *c.tag == tag {
			return c
		}
	}
	t.unwanted.add(tag)
	return nil
}

// numberUnborn gives a pid to a command that has no process.
func (t *table) numberUnborn() uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unborn++
	return t.unborn
}

func (t *table) finish(c *command) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live[c.pid] == c {
		delete(t.live, c.pid)
	}
	t.forget()
	t.ended = append(t.ended, c)
}

// forget drops the ends that have been kept long enough.
func (t *table) forget() {
	oldest := time.Now().Add(-keepEnded)
	keep := 0
	for keep < len(t.ended) && t.ended[keep].finishedAt.Before(oldest) {
		keep++
	}
	t.ended = slices.Delete(t.ended, 0, keep)
}

// running lists the live commands by pid.
func (t *table) running() []*command {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]*command, 0, len(t.live))
	for _, c := range t.live {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *command) int { return cmp.Compare(a.pid, b.pid) })
	return list
}

// find returns the live command that match accepts, the newest if several.
func (t *table) find(match func(*command) bool) *command {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found *command
	for _, c := range t.live {
		if match(c) && (found == nil || c.begun.After(found.begun)) {
			found = c
		}
	}
	return found
}

// findEnded returns the last ended command that match accepts.
func (t *table) findEnded(match func(*command) bool) *command {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
	for _, c := range slices.Backward(t.ended) {
		if match(c) {
			return c
		}
	}
	return nil
}

// owns tells whether a pid still means this command.
func (t *table) owns(c *command) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live[c.pid] == c
}

// hold remembers an output that a surviving child writes to, to close it with
// the daemon.
func (t *table) hold(f *os.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		_ = f.Close()
		return
	}
	t.held[f] = struct{}{}
}

func (t *table) letGo(f *os.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.held, f)
}

// killAll refuses new commands, ends all live ones and lets go of what survived
// their ends.
func (t *table) killAll() {
	t.mu.Lock()
	t.closed = true
	for f := range t.held {
		_ = f.Close()
	}
	t.mu.Unlock()
	for _, c := range t.running() {
		killSession(int(c.pid))
		c.abandon()
	}
}

package fleet

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// The ways a life ends, as callers are told.
const (
	fateKilled  = "it was killed"
	fateExpired = "its lifetime ended"
	fateDied    = "its first process ended by itself"
	fateClosed  = "the server ended"
)

// Fleet is the set of a server's sandboxes. Make it with New.
type Fleet struct {
	log *slog.Logger

	mu      sync.RWMutex
	members map[string]*Sandbox
	closed  bool

	graves graveyard
	// work counts the goroutines that Close waits for.
	work   sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
}

// New makes an empty fleet, and starts measuring its members. Close ends that.
func New(log *slog.Logger) *Fleet {
	ctx, cancel := context.WithCancel(context.Background())
	f := &Fleet{log: log, members: map[string]*Sandbox{}, ctx: ctx, cancel: cancel}
	f.work.Go(f.sampleAll)
	return f
}

// Add takes a running box into the fleet and starts the clock of its life.
// When the fleet is closed the box is killed, and the error says so.
func (f *Fleet) Add(spec Spec, box Box) (*Sandbox, error) {
	if spec.StartedAt.IsZero() {
		spec.StartedAt = time.Now()
	}
	s := &Sandbox{spec: spec, box: box, changed: make(chan struct{}), gone: make(chan struct{})}
	if !f.join(s) {
		s.setState(Killing)
		f.destroy(s)
		return nil, &NotFoundError{ID: spec.ID, Fate: fateClosed}
	}
	s.Note("sandbox started")
	return s, nil
}

// join makes s a member unless the fleet is closed.
func (f *Fleet) join(s *Sandbox) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	s.mu.Lock()
	s.timer = time.AfterFunc(time.Hour, func() { f.spawn(func() { f.expire(s) }) })
	s.arm(s.spec.Lifetime)
	s.mu.Unlock()
	if s.spec.Joined != nil {
		s.spec.Joined(s)
	}
	f.members[s.spec.ID] = s
	f.work.Go(func() { f.watch(s) })
	return true
}

// spawn runs fn in a goroutine that Close waits for; after Close not at all.
func (f *Fleet) spawn(fn func()) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if !f.closed {
		f.work.Go(fn)
	}
}

// Get returns a member. The error is a *NotFoundError.
func (f *Fleet) Get(id string) (*Sandbox, error) {
	f.mu.RLock()
	s := f.members[id]
	f.mu.RUnlock()
	if s == nil {
		return nil, f.Missing(id)
	}
	return s, nil
}

// Missing is the error for a sandbox that is gone or going, with its fate where
// that is remembered.
func (f *Fleet) Missing(id string) *NotFoundError {
	return &NotFoundError{ID: id, Fate: f.graves.fate(id)}
}

// All returns the members in no order.
func (f *Fleet) All() []*Sandbox {
	f.mu.RLock()
	defer f.mu.RUnlock()
	all := make([]*Sandbox, 0, len(f.members))
	for _, s := range f.members {
		all = append(all, s)
	}
	return all
}

// Len returns how many members there are, paused ones too.
func (f *Fleet) Len() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.members)
}

// Close kills every member and waits until nothing of them is left. Adding is
// an error from then on.
func (f *Fleet) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	var kills sync.WaitGroup
	for _, s := range f.All() {
		kills.Go(func() { _ = f.kill(s, fateClosed) })
	}
	kills.Wait()
	f.work.Wait()
}

// watch takes a member out when its box ends by itself.
func (f *Fleet) watch(s *Sandbox) {
	select {
	case <-s.box.Done():
	case <-s.gone:
		return
	}
	// Somebody else's kill makes it a NotFoundError, which is as well.
	_ = f.kill(s, fateDied)
}

func (f *Fleet) sampleAll() {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-tick.C:
		}
		for _, s := range f.All() {
			s.measure(sampleEvery / 2)
		}
	}
}

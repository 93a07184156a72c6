package splice

import (
	"io"
	"sync"
)

// Set holds what is open for one owner, so that all of it can be closed at once.
// The zero value is ready and without bound.
type Set struct {
	// Max bounds the members; 0 is no bound. Set before use.
	Max int

	mu      sync.Mutex
	closed  bool
	members map[io.Closer]struct{}
	running sync.WaitGroup
}

// Go runs fn in a goroutine with c as a member, and closes c when fn returns.
// It closes c at once and returns false when the set is full or closed.
func (s *Set) Go(c io.Closer, fn func()) bool {
	if !s.add(c) {
		_ = c.Close()
		return false
	}
	go func() {
		defer s.running.Done()
		defer s.remove(c)
		fn()
	}()
	return true
}

func (s *Set) add(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || (s.Max > 0 && len(s.members) >= s.Max) {
		return false
	}
	if s.members == nil {
		s.members = map[io.Closer]struct{}{}
	}
	s.members[c] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *Set) remove(c io.Closer) {
	_ = c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, c)
}

// Each calls fn for every member at this moment.
func (s *Set) Each(fn func(io.Closer)) {
	s.mu.Lock()
	now := make([]io.Closer, 0, len(s.members))
	for c := range s.members {
		now = append(now, c)
	}
	s.mu.Unlock()
	for _, c := range now {
		fn(c)
	}
}

// Close closes every member, waits for their functions and refuses new ones.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Each(func(c io.Closer) { _ = c.Close() })
	s.running.Wait()
}

package fleet

import (
	"sync"
	"time"
)

// Spec is what never changes in a sandbox's life.
type Spec struct {
	ID string
	// StartedAt orders lists; Add fills it in when it is zero.
	StartedAt time.Time
	// Lifetime counts from the moment of Add; 0 = no end.
	Lifetime time.Duration
	// Pauses: the end of the lifetime pauses instead of kills.
	Pauses bool
	// Resumes: traffic may wake the sandbox when it is paused.
	Resumes bool
	// Joined is told the member before anybody can reach it and before anything
	// can end it. It must not call the fleet. nil = nobody.
	Joined func(*Sandbox)
	// Left runs once, after the box is dead; nil = nothing.
	Left func()
}

// Sandbox is one member of the fleet. All methods may be called from any
// goroutine.
type Sandbox struct {
	spec    Spec
	box     Box
	journal journal
	samples samples
	// gone is closed when nothing of the sandbox is left.
	gone chan struct{}

	mu sync.Mutex
	// changed is closed and replaced whenever state changes.
	changed chan struct{}
	state   State
	endAt   time.Time // zero = no end
	timer   *time.Timer
}

// ID returns the sandbox's name.
func (s *Sandbox) ID() string { return s.spec.ID }

// StartedAt returns when it joined the fleet.
func (s *Sandbox) StartedAt() time.Time { return s.spec.StartedAt }

// Pauses reports whether the end of its lifetime pauses it.
func (s *Sandbox) Pauses() bool { return s.spec.Pauses }

// Resumes reports whether traffic wakes it.
func (s *Sandbox) Resumes() bool { return s.spec.Resumes }

// Box returns what does the work.
func (s *Sandbox) Box() Box { return s.box }

// State returns the present state.
func (s *Sandbox) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// EndAt returns when its life ends; zero = never. A paused sandbox keeps the
// time that it had.
func (s *Sandbox) EndAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endAt
}

// setState moves to next and wakes who waits. s.mu is held.
func (s *Sandbox) setState(next State) {
	s.state = next
	close(s.changed)
	s.changed = make(chan struct{})
}

// begin claims the change from one settled state, so that only one caller works
// at a time. The error of everybody else is a *StateError with what they found.
func (s *Sandbox) begin(from, during State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != from {
		return &StateError{ID: s.spec.ID, State: s.state}
	}
	s.setState(during)
	return nil
}

// finish ends a change. A kill that came in between keeps its state; finish
// then reports it as a *StateError.
func (s *Sandbox) finish(during, next State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != during {
		return &StateError{ID: s.spec.ID, State: s.state}
	}
	s.setState(next)
	return nil
}

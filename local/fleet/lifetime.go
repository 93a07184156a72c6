package fleet

import (
	"time"
)

// pauseRetry is the respite of a sandbox that should be paused at the end of
// its life and could not be.
const pauseRetry = 30 * time.Second

// SetLifetime makes the life end d from now, sooner or later than before; 0 is
// no end. The sandbox must be running.
func (s *Sandbox) SetLifetime(d time.Duration) error {
	return s.changeLifetime(d, func(time.Time, time.Time) bool { return true })
}

// ExtendLifetime makes the life end d from now unless it ends later already; 0
// is no end. The sandbox must be running.
func (s *Sandbox) ExtendLifetime(d time.Duration) error {
	return s.changeLifetime(d, later)
}

// later reports whether next is after now; a zero time is the end of all days.
func later(now, next time.Time) bool {
	return !now.IsZero() && (next.IsZero() || next.After(now))
}

func (s *Sandbox) changeLifetime(d time.Duration, wanted func(now, next time.Time) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != Running {
		return &StateError{ID: s.spec.ID, State: s.state}
	}
	if wanted(s.endAt, ending(d)) {
		s.arm(d)
	}
	return nil
}

func ending(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Now().Add(d)
}

// arm starts the clock of the lifetime anew. s.mu is held.
func (s *Sandbox) arm(d time.Duration) {
	s.endAt = ending(d)
	s.disarm()
	if d > 0 {
		s.timer.Reset(d)
	}
}

// disarm stops the clock. s.mu is held.
func (s *Sandbox) disarm() { s.timer.Stop() }

// over reports whether the life has ended by now: a timer that fired may have
// been overtaken by a longer life.
func (s *Sandbox) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == Running && !s.endAt.IsZero() && !time.Now().Before(s.endAt)
}

// stayAwake returns a sandbox to running whose pause failed. A life that ended
// meanwhile gets a respite, or nothing would ever end it.
func (s *Sandbox) stayAwake() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != Pausing {
		return &StateError{ID: s.spec.ID, State: s.state}
	}
	s.setState(Running)
	if !s.endAt.IsZero() && time.Until(s.endAt) < pauseRetry {
		s.endAt = time.Now().Add(pauseRetry)
		s.timer.Reset(pauseRetry)
	}
	return nil
}

package fleet

import (
	"context"
	"errors"
	"time"
)

// changeLimit bounds one pause or resume of a box.
const changeLimit = 30 * time.Second

// wakeLifetime is the least that traffic which wakes a sandbox gives it.
const wakeLifetime = 5 * time.Minute

// Pause freezes a running sandbox with its memory. Only one change happens at
// a time: the error of a call in any other state is a *StateError.
func (f *Fleet) Pause(ctx context.Context, s *Sandbox) error {
	if err := s.begin(Running, Pausing); err != nil {
		return err
	}
	if err := f.bounded(ctx, s.box.Pause); err != nil {
		ending := s.stayAwake()
		if ending == nil {
			f.log.Error("pause failed", "sandbox", s.ID(), "error", err)
		}
		// Of a sandbox that was killed meanwhile only that counts.
		return errors.Join(err, ending)
	}
	s.mu.Lock()
	s.disarm()
	s.mu.Unlock()
	if err := s.finish(Pausing, Paused); err != nil {
		return err
	}
	s.Note("sandbox paused")
	return nil
}

// Resume wakes a paused sandbox and gives it a life of d from now; 0 is no end.
// The error of a call in any other state is a *StateError.
func (f *Fleet) Resume(ctx context.Context, s *Sandbox, d time.Duration) error {
	if err := s.begin(Paused, Resuming); err != nil {
		return err
	}
	if err := f.bounded(ctx, s.box.Resume); err != nil {
		f.log.Error("resume failed", "sandbox", s.ID(), "error", err)
		return errors.Join(err, s.finish(Resuming, Paused))
	}
	s.mu.Lock()
	if s.state == Resuming {
		s.arm(d)
	}
	s.mu.Unlock()
	if err := s.finish(Resuming, Running); err != nil {
		return err
	}
	s.Note("sandbox resumed")
	return nil
}

// bounded runs one change of a box. It is not cut off when the caller goes
// away: half a change would leave the box in no state at all.
func (f *Fleet) bounded(ctx context.Context, change func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeLimit)
	defer cancel()
	return change(ctx)
}

// Connect makes sure that the sandbox runs, waiting for a change that is under
// way. A running one lives at least d from now (0 is for ever) when extend says
// so; a paused one is resumed with a life of d. resumed says which it was.
func (f *Fleet) Connect(ctx context.Context, s *Sandbox, d time.Duration, extend bool) (resumed bool, err error) {
	for {
		state, err := s.Settle(ctx)
		if err != nil {
			return false, err
		}
		if state == Running {
			if !extend {
				return false, nil
			}
			err = s.ExtendLifetime(d)
		} else {
			resumed, err = true, f.Resume(ctx, s, d)
		}
		var lost *StateError
		if errors.As(err, &lost) && lost.State != Killing {
			// Somebody else changed it first: look again.
			resumed = false
			continue
		}
		return resumed, err
	}
}

// Wake is Connect for traffic: a sandbox that slept gets the lifetime that it
// was made with again, and at least five minutes, as E2B's service does.
func (f *Fleet) Wake(ctx context.Context, s *Sandbox) error {
	d := s.spec.Lifetime
	if d > 0 {
		d = max(d, wakeLifetime)
	}
	_, err := f.Connect(ctx, s, d, false)
	return err
}

// Kill ends a sandbox and returns when nothing of it is left. One that is being
// killed already, or is gone, is a *NotFoundError (after the other's kill has
// ended).
func (f *Fleet) Kill(s *Sandbox) error { return f.kill(s, fateKilled) }

func (f *Fleet) kill(s *Sandbox, fate string) error {
	s.mu.Lock()
	if s.state == Killing {
		s.mu.Unlock()
		<-s.gone
		return f.Missing(s.ID())
	}
	s.disarm()
	f.graves.bury(s.ID(), fate)
	s.setState(Killing)
	s.mu.Unlock()
	f.log.Info("sandbox ended", "sandbox", s.ID(), "why", fate)
	f.destroy(s)
	return nil
}

// destroy kills the box of a sandbox in state Killing and forgets it.
func (f *Fleet) destroy(s *Sandbox) {
	if err := s.box.Kill(); err != nil {
		f.log.Error("kill failed", "sandbox", s.ID(), "error", err)
	}
	f.mu.Lock()
	delete(f.members, s.ID())
	f.mu.Unlock()
	if s.spec.Left != nil {
		s.spec.Left()
	}
	close(s.gone)
}

// expire ends the life of a sandbox whose clock has fired.
func (f *Fleet) expire(s *Sandbox) {
	if !s.over() {
		return
	}
	if !s.spec.Pauses {
		_ = f.kill(s, fateExpired)
		return
	}
	// An error is in the log, and the sandbox has got a respite.
	_ = f.Pause(f.ctx, s)
}

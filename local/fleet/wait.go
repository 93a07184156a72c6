package fleet

import (
	"context"
	"time"
)

// settleLimit bounds how long a call waits for somebody else's change of state.
const settleLimit = 10 * time.Second

// Settle waits until no change of state is under way, and returns the state.
// One that is being killed, or does not settle in time, is a *StateError.
func (s *Sandbox) Settle(ctx context.Context) (State, error) {
	limit := time.NewTimer(settleLimit)
	defer limit.Stop()
	for {
		s.mu.Lock()
		state, changed := s.state, s.changed
		s.mu.Unlock()
		if state.Settled() {
			return state, nil
		}
		if state == Killing {
			return state, &StateError{ID: s.spec.ID, State: state}
		}
		select {
		case <-changed:
		case <-limit.C:
			return state, &StateError{ID: s.spec.ID, State: state}
		case <-ctx.Done():
			return state, ctx.Err()
		}
	}
}

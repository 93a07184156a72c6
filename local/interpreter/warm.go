package interpreter

import (
	"context"
	_ "embed"
	"maps"
	"slices"
)

//go:embed prelude/claim.py
var pythonClaim string

// Warm starts the kernel of the default Python context and returns when it
// answers, so that the first run need not wait for it.
func (s *Service) Warm(ctx context.Context) error {
	c, err := s.contexts.forLanguage("python")
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- c.warm() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Claim gives the kernels that Warm has started what is the owner's alone: the
// variables that Options.Env gives from now on, and random numbers, temporary
// names and the like that nobody else has. It does not wait: whatever is run
// afterwards is run after that.
func (s *Service) Claim() error {
	for _, c := range s.contexts.existing() {
		if err := c.claim(); err != nil {
			return err
		}
	}
	return nil
}

// existing are the contexts that there are.
func (c *contexts) existing() []*session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.order)
}

// warm starts the kernel and runs a little, so that what is made by the first
// run is there.
func (s *session) warm() error {
	k, err := s.ready()
	if err != nil {
		return err
	}
	return k.hidden("None")
}

// claim takes the first place in the queue for making the kernel the owner's.
func (s *session) claim() error {
	x := newExecution(nil, nil)
	if err := s.enter(x); err != nil {
		return err
	}
	go func() {
		defer s.leave(x)
		<-x.turn
		k, err := s.existing()
		if k == nil || err != nil {
			return // the next one has the right variables from its start
		}
		if err := s.renew(k); err != nil {
			s.workshop.options.Log.Warn("a kernel could not be made its owner's", "error", err)
			k.shutdown(errRestarting, true)
		}
	}()
	return nil
}

// renew replaces the variables of a kernel, and its randomness.
func (s *session) renew(k *kernel) error {
	user, err := s.workshop.user()
	if err != nil {
		return err
	}
	env := s.workshop.kernelEnvironment(user, k.spec)
	gone := []string{}
	for _, name := range slices.Sorted(maps.Keys(k.env)) {
		if _, stays := env[name]; !stays {
			gone = append(gone, name)
		}
	}
	if err := k.hidden(pythonClaim + "_sandbox_claim(" + literal(env) + ", " + literal(gone) + ")\ndel _sandbox_claim\n"); err != nil {
		return err
	}
	k.env = env
	return nil
}

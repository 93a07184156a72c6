package core

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/envd"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// ErrDetach is the cause of a cancel that leaves a followed process alone.
var ErrDetach = errors.New("the caller detached")

// firstPause is between the first two attempts to kill what may not have started
// yet; each further one is twice as long.
const firstPause = 20 * time.Millisecond

// hiddenTag begins the names of commands that nobody named. A sandbox of ours
// knows the form: such a command is killed even before it has come.
const hiddenTag = "run-"

// named gives a command without a tag a name of our own, so that a cancel before
// its pid is known can still end it.
func (s *Sandbox) named(o *RunOptions) {
	if o.Tag == "" {
		o.Tag = hiddenTag + s.client.randomName()
	}
}

// isHidden tells the names of named from those of users.
func isHidden(tag string) bool {
	name, ok := strings.CutPrefix(tag, hiddenTag)
	return ok && len(name) == 24 && strings.Trim(name, "0123456789abcdef") == ""
}

// keeping says when a process that is followed is ended by its caller's leaving.
type keeping int

const (
	running    keeping = iota // it was there before: never
	foreground                // nobody else knows of it: always
	background                // while it starts: afterwards it has a life of its own
)

// fate ends a process that nobody follows any more.
type fate struct {
	s    *Sandbox
	keep keeping
	who  plane.Selector // before its pid is known
}

// fired kills the process when a clock of its stream fired. It is plane.Watch's Kill.
func (f *fate) fired(ctx context.Context, clock string, pid uint32) bool {
	switch {
	case clock == transport.ClockCommand:
	case f.keep == running, f.keep == background && pid != 0:
		return false
	}
	return f.kill(ctx, f.selector(clock, pid), pid != 0)
}

// abandoned kills the process when its caller has cancelled. It does not keep the
// caller: whoever cancels wants to go on.
func (f *fate) abandoned(ctx context.Context, pid uint32) {
	detached := errors.Is(context.Cause(ctx), ErrDetach)
	if ctx.Err() == nil || f.keep == running || (f.keep == background && detached) {
		return
	}
	waiting, disarm := f.s.client.host.Detached(ctx, plane.Patience)
	defer disarm()
	f.kill(waiting, f.selector("", pid), pid != 0)
}

// selector prefers a name that only this process has.
func (f *fate) selector(clock string, pid uint32) plane.Selector {
	if pid != 0 && (clock == transport.ClockCommand || !isHidden(f.who.Tag)) {
		return plane.Selector{PID: pid}
	}
	return f.who
}

// kill tells whether the process is known to be gone. It returns when ctx ends,
// and goes on. runs: it has started, so that one which is not there has ended.
func (f *fate) kill(ctx context.Context, who plane.Selector, runs bool) bool {
	host := f.s.client.host
	gone, err := host.Flight(ctx, "kill|"+f.s.client.randomName(), func(flight context.Context) (any, error) {
		cleanup, disarm := host.Detached(flight, envd.Cleanup)
		defer disarm()
		return f.s.repeatKill(cleanup, who, runs), nil
	})
	return err == nil && gone == true
}

// repeatKill tries again, more and more slowly, until ctx ends: the kill may
// overtake the start.
func (s *Sandbox) repeatKill(ctx context.Context, who plane.Selector, runs bool) bool {
	for pause := firstPause; ; pause *= 2 {
		err := s.data.Signal(ctx, who, plane.SIGKILL)
		missing := isMissing(err)
		if err == nil || fault.CodeOf(err) == fault.CodeSandboxNotFound || (runs && missing) {
			return true
		}
		if !missing && !passes(err) {
			return false
		}
		if s.client.host.Sleep(ctx, pause) != nil {
			return false
		}
	}
}

// passes tells a failure that another attempt may not meet.
func passes(err error) bool {
	switch fault.CodeOf(err) {
	case fault.CodeNetwork, fault.CodeServiceUnavailable, fault.CodeRateLimit, fault.CodeRequestTimeout:
		return true
	}
	return false
}

package daemon

import (
	"sync"
	"time"
)

const (
	// awakeStep is how often an awakeClock looks how much time has passed.
	awakeStep = time.Second
	// awakeLapse is by how much a look must be late to mean that we were frozen,
	// rather than that the machine is busy.
	awakeLapse = 3 * time.Second
)

// awakeClock runs out after a time in which the sandbox was awake: one that is
// paused must not use up the time of its commands, as it does not in a virtual
// machine whose clock stands still meanwhile.
type awakeClock struct {
	mu      sync.Mutex
	timer   *time.Timer
	left    time.Duration
	from    time.Time
	stopped bool
	// step and now are awakeStep and time.Now, but in tests.
	step time.Duration
	now  func() time.Time
	then func()
}

// startAwakeClock calls then in its own goroutine after d, unless stopped.
func startAwakeClock(d time.Duration, then func()) *awakeClock {
	a := &awakeClock{left: d, step: awakeStep, now: time.Now, then: then}
	a.start()
	return a
}

func (a *awakeClock) start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arm()
}

func (a *awakeClock) arm() {
	a.from = a.now()
	a.timer = time.AfterFunc(max(min(a.left, a.step), 0), a.look)
}

// look counts the time that has passed, but a lapse only as the step that it was
// meant to be.
func (a *awakeClock) look() {
	a.mu.Lock()
	step := max(min(a.left, a.step), 0)
	passed := a.now().Sub(a.from)
	if passed > step+awakeLapse {
		passed = step
	}
	a.left -= passed
	over := a.left <= 0
	if a.stopped {
		a.mu.Unlock()
		return
	}
	if !over {
		a.arm()
	}
	a.mu.Unlock()
	if over {
		a.then()
	}
}

// stop ends the clock; on a nil clock it does nothing.
func (a *awakeClock) stop() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	a.timer.Stop()
}

package host

import (
	"time"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// timer is one timer of the core. Its fields belong to the host's mutex.
type timer struct {
	h     *Host
	k     key
	set   int // how often it was set: an older firing is void
	timer *time.Timer
}

func (h *Host) setTimer(k key, f frame.Frame) {
	if h.streams[k] == nil {
		h.streams[k] = &timer{h: h, k: k}
	}
	h.streams[k].take(f)
}

func (t *timer) take(f frame.Frame) {
	t.stop()
	t.set++
	set := t.set
	t.timer = time.AfterFunc(number(f.Payload), func() { t.fire(set) })
}

func (t *timer) fire(set int) {
	t.h.mu.Lock()
	defer t.h.mu.Unlock()
	if t.h.streams[t.k] == stream(t) && t.set == set {
		delete(t.h.streams, t.k)
		t.h.run(input(t.k, frame.Timer, nil))
	}
}

func (t *timer) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

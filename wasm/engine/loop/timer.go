package loop

import (
	"time"

	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
)

// timer is one timer of the engine. Its fields belong to the loop's mutex.
type timer struct {
	l     *Loop
	k     key
	set   int // how often it was set: an older firing is void
	timer *time.Timer
}

func (t *timer) take(o engine.Out) {
	t.halt()
	t.set++
	set := t.set
	t.timer = time.AfterFunc(o.After, func() { t.fire(set) })
}

func (t *timer) fire(set int) {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if t.l.streams[t.k] != t || t.set != set {
		return
	}
	delete(t.l.streams, t.k)
	t.l.engine.Event(engine.Event{Op: t.k.op, Stream: t.k.stream, Kind: engine.TimerFired})
	t.l.perform()
}

func (t *timer) halt() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

func (t *timer) stop() { t.halt() }

// Package engine runs the core's operations on events, without goroutines of its
// own: each operation has tasks, each task is an iter.Pull coroutine, and waiting
// is a yield to the host. The core's code is the same as natively.
//
// The same events give the same outs, in the same order. An Engine is not safe
// for concurrent use: its host calls it from one goroutine at a time.
package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// ErrReentered is what Call gives when a task calls its own engine.
var ErrReentered = errors.New("the engine is running: it cannot be called from inside an operation")

// Options are what the engine cannot do by frames.
type Options struct {
	HasStore bool
	Rand     func([]byte)                          // fills its argument with strong random bytes; needed
	Now      func() time.Time                      // the calendar time; needed
	Sink     func(*Out)                            // takes each order at once, in place of Take; must not call the engine
	Spare    int                                   // how many idle coroutines are kept for the next tasks; 0 = none
	Open     func(op, stream uint32) io.ReadCloser // reads a body that the host was given; nil where the caller reads it elsewhere
}

// Engine holds the live operations. See New.
type Engine struct {
	options Options
	cache   cache
	ops     map[uint32]*operation
	flights map[string]*flight

	spare   []*coroutine
	queue   []*task      // to be resumed, in order
	touched []*operation // whose parked tasks may have lost their ctx
	current *task
	running bool
	turn    uint64 // counts Call and Event
	outbox  []Out
	scratch Out // for the sink: a new one for each order is most of what output allocates
}

// New makes an engine.
func New(o Options) *Engine {
	return &Engine{options: o, ops: map[uint32]*operation{}, flights: map[string]*flight{}}
}

// Take gives what the host has to do since the last Take, in order.
func (e *Engine) Take() []Out {
	out := e.outbox
	e.outbox = nil
	return out
}

// Live is the number of operations that are not done.
func (e *Engine) Live() int { return len(e.ops) }

// Backlog is the number of bytes of a stream that no task has read. The host
// reads no further while it is large.
func (e *Engine) Backlog(op, stream uint32) int {
	if o := e.ops[op]; o != nil {
		if s := o.exchanges[stream]; s != nil {
			return s.backlog
		}
		if s := o.sockets[stream]; s != nil {
			return s.backlog
		}
	}
	return 0
}

// Call starts an operation. An id that is live is the host's mistake.
func (e *Engine) Call(id uint32, fn Func) error {
	if e.running {
		return ErrReentered
	}
	if e.ops[id] != nil {
		return fmt.Errorf("operation %d is live", id)
	}
	e.turn++
	e.start(id, fn)
	e.drain()
	return nil
}

// Event delivers one event and runs every task that it concerns until it waits
// again. held says that the data of an HTTPChunk is still in use: the host must
// not change it any more.
func (e *Engine) Event(v Event) (held bool) {
	o := e.ops[v.Op]
	if o == nil || e.running {
		return false
	}
	e.turn++
	switch v.Kind {
	case Cancel:
		o.cancel(orCanceled(v.Err))
	case TimerFired:
		o.timerFired(v.Stream)
	case HTTPHead, HTTPChunk, HTTPEnd, HTTPError, BodyWanted:
		o.exchangeEvent(v)
	case SocketOpen, SocketText, SocketBinary, SocketClosed:
		o.socketEvent(v)
	case StoreResult:
		o.storeEvent(v)
	case Input, InputEnd:
		o.inputEvent(v)
	}
	e.touch(o)
	e.drain()
	return v.Kind == HTTPChunk && o.settleChunk(v.Stream)
}

// emit gives an order to the host. One that is kept for Take gets bytes of its
// own.
func (e *Engine) emit(o Out) {
	if e.options.Sink != nil {
		e.scratch = o
		e.options.Sink(&e.scratch)
		return
	}
	o.Data = bytes.Clone(o.Data)
	if o.Request != nil {
		o.Request.Body.Bytes = bytes.Clone(o.Request.Body.Bytes)
	}
	e.outbox = append(e.outbox, o)
}

// touch notes that tasks of o may have lost their ctx.
func (e *Engine) touch(o *operation) { e.touched = append(e.touched, o) }

// drain resumes tasks from the top only, never from inside another coroutine.
func (e *Engine) drain() {
	e.running = true
	defer func() { e.running = false }()
	e.wake()
	for i := 0; i < len(e.queue); i++ {
		t := e.queue[i]
		e.queue[i] = nil
		e.resume(t)
		e.touch(t.op)
		e.wake()
	}
	e.queue = e.queue[:0]
}

// wake queues parked tasks whose ctx has ended, in order of creation.
// context.AfterFunc would need a goroutine, and an operation has few tasks.
func (e *Engine) wake() {
	for _, o := range e.touched {
		for _, t := range o.tasks {
			if t.ctx != nil && t.ctx.Err() != nil {
				e.ready(t)
			}
		}
	}
	e.touched = e.touched[:0]
}

// contain turns a panic of fn into an error.
func contain(fn func() (any, error)) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, transport.Contained(p)
		}
	}()
	return fn()
}

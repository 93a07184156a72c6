// Package host runs the core behind its frames, natively or in a WebAssembly
// runtime: it performs on an ordinary transport.Host what the core orders. It is
// the host to read beside wasm/ABI.md, and the one that tests the artifact.
package host

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// drainTime is how long Close waits for operations that clean up.
const drainTime = 5 * time.Second

// ErrClosed cancels what runs on a host that is closed.
var ErrClosed = errors.New("the host was closed")

type key struct{ op, stream uint32 }

// stream is something that the host performs for an operation. Its methods are
// called under the host's mutex and do not block.
type stream interface {
	take(f frame.Frame) // an order about it; the payload is the machine's
	stop()              // the core wants nothing of it any more
}

// Options shape a Host. The zero value needs a Machine.
type Options struct {
	// Machine makes an instance of the core: at the first call, and again after
	// one has ended.
	Machine func() (Machine, error)
	// Tap sees all frames, those to the core and those from it, in their order;
	// nil = nobody does. It must not keep them.
	Tap func(toCore bool, frames []byte)
}

// Host holds an instance of the core and what is going on for it. It is safe for
// concurrent use. See New.
type Host struct {
	options Options
	net     transport.Host

	mu      sync.Mutex
	drained *sync.Cond // an operation has ended
	machine Machine
	last    uint32 // id of the newest operation
	ops     map[uint32]*operation
	streams map[key]stream
	work    sync.WaitGroup
	closed  bool
}

// New makes a host that performs on net, which the caller closes after the host.
func New(net transport.Host, o Options) *Host {
	h := &Host{options: o, net: net, ops: map[uint32]*operation{}, streams: map[key]stream{}}
	h.drained = sync.NewCond(&h.mu)
	return h
}

// Close cancels every operation, serves what cleans up for at most five seconds,
// and waits for everything of its own.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	for _, o := range h.ops {
		h.run(input(key{o.id, 0}, frame.Cancel, []byte(`{"reason":"cancel"}`)))
	}
	late := time.AfterFunc(drainTime, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.fail(ErrClosed)
	})
	for len(h.ops) > 0 {
		h.drained.Wait()
	}
	late.Stop()
	var err error
	if h.machine != nil {
		err = h.machine.Close()
		h.machine = nil
	}
	h.mu.Unlock()
	h.work.Wait()
	return err
}

// start makes a machine when there is none; called under the mutex.
func (h *Host) start() error {
	if h.closed {
		return cancelled(ErrClosed)
	}
	if h.machine != nil {
		return nil
	}
	m, err := h.options.Machine()
	if err != nil {
		return ended(err)
	}
	h.machine = m
	return nil
}

// feed gives frames to the core and performs what comes out.
func (h *Host) feed(in []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run(in)
}

// run is feed under the mutex.
func (h *Host) run(in []byte) {
	if h.machine == nil {
		return
	}
	h.tap(true, in)
	out, err := h.machine.Run(in)
	if err != nil {
		h.fail(err)
		return
	}
	h.tap(false, out)
	for len(out) > 0 {
		f, rest, err := frame.Next(out)
		if err != nil {
			h.fail(ErrCut)
			return
		}
		h.perform(f)
		out = rest
	}
}

func (h *Host) tap(toCore bool, frames []byte) {
	if h.options.Tap != nil {
		h.options.Tap(toCore, frames)
	}
}

// fail drops the machine and ends every operation.
func (h *Host) fail(why error) {
	if h.machine != nil {
		_ = h.machine.Close()
		h.machine = nil
	}
	text := failureText(ended(why))
	for _, o := range h.ops {
		o.push(frame.Error, text)
		o.over()
	}
	h.drained.Broadcast()
}

// perform does what one frame orders. Nothing in it blocks.
func (h *Host) perform(f frame.Frame) {
	k, o := key{f.Op, f.Stream}, h.ops[f.Op]
	if o == nil {
		return
	}
	switch f.Kind {
	case frame.HTTPRequest:
		h.begun(k, newExchange(o, k, f))
	case frame.WSDial:
		h.begun(k, newSocket(o, k, f))
	case frame.Store:
		h.store(o, k, f)
	case frame.TimerSet:
		h.setTimer(k, f)
	case frame.HTTPAbort, frame.WSClose, frame.TimerClear:
		h.stop(k)
	case frame.Stdout, frame.Stderr, frame.PTY, frame.Messages, frame.Object, frame.Event, frame.Result, frame.Error:
		o.push(f.Kind, append([]byte(nil), f.Payload...))
	case frame.InputWanted:
		o.wanted()
	case frame.Done:
		o.over()
		h.drained.Broadcast()
	default:
		if s := h.streams[k]; s != nil {
			s.take(f)
		}
	}
}

// worker is a stream that waits in a goroutine of its own.
type worker interface {
	stream
	work()
}

func (h *Host) begun(k key, w worker) {
	h.streams[k] = w
	h.work.Go(w.work)
}

// stop ends a stream; called under the mutex.
func (h *Host) stop(k key) {
	if s := h.streams[k]; s != nil {
		delete(h.streams, k)
		s.stop()
		if o := h.ops[k.op]; o != nil {
			o.room.Broadcast()
		}
	}
}

// report gives the core a frame about a stream that is still wanted.
func (h *Host) report(k key, s stream, kind frame.Kind, payload []byte, more ...[]byte) {
	in := input(k, kind, payload, more...)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams[k] == s {
		h.run(in)
	}
}

// finish is the last report about a stream.
func (h *Host) finish(k key, s stream, kind frame.Kind, payload []byte, more ...[]byte) {
	in := input(k, kind, payload, more...)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams[k] == s {
		h.stop(k)
		h.run(in)
	}
}

func number(payload []byte) time.Duration {
	if len(payload) < 4 {
		return 0
	}
	return time.Duration(binary.LittleEndian.Uint32(payload)) * time.Millisecond
}

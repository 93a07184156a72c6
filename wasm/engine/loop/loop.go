// Package loop drives an engine natively: it performs what the engine orders on
// an ordinary transport.Host. So the tests of the native host, and the whole
// core, can run over the engine.
package loop

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
)

// maxBacklog is how many bytes may wait in the engine before a stream is read no
// further (design.md 3).
const maxBacklog = 1 << 20

// ErrClosed cancels what runs on a loop that is closed.
var ErrClosed = errors.New("the loop was closed")

type key struct{ op, stream uint32 }

// Loop is an engine under a mutex, with goroutines that wait in its place. See
// New.
type Loop struct {
	host transport.Host

	mu      sync.Mutex
	drained *sync.Cond // a turn has ended
	engine  *engine.Engine
	last    uint32
	runs    map[uint32]*run
	streams map[key]stream
	bodies  bodies
	closed  bool
}

// run is one operation as its caller sees it.
type run struct {
	ctx    context.Context
	result chan engine.Out
}

// stream is something that the loop performs for an operation.
type stream interface {
	take(engine.Out) // an order for it; called under the mutex, must not block
	stop()           // the engine wants nothing of it any more
}

// New makes a loop on host, which performs all waiting. The caller closes both.
func New(host transport.Host) *Loop {
	l := &Loop{host: host, runs: map[uint32]*run{}, streams: map[key]stream{}, bodies: bodies{byKey: map[key]*handed{}}}
	l.drained = sync.NewCond(&l.mu)
	l.engine = engine.New(engine.Options{
		HasStore: host.Store() != nil, Rand: host.Rand, Now: host.Now, Open: l.open,
	})
	return l
}

// Run runs fn as one operation and waits for its result. The end of ctx cancels
// the operation, which may still clean up before it settles.
func (l *Loop) Run(ctx context.Context, fn engine.Func) (any, error) {
	r := &run{ctx: ctx, result: make(chan engine.Out, 1)}
	id, err := l.start(r, fn)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() {
		l.event(engine.Event{Op: id, Kind: engine.Cancel, Err: context.Cause(ctx)})
	})()
	out := <-r.result
	return out.Value, out.Err
}

func (l *Loop) start(r *run, fn engine.Func) (uint32, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, ErrClosed
	}
	l.last++
	l.runs[l.last] = r
	if err := l.engine.Call(l.last, fn); err != nil {
		return 0, err
	}
	l.perform()
	return l.last, nil
}

// Close cancels every operation and waits until all are done.
func (l *Loop) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for id := range l.runs {
		l.engine.Event(engine.Event{Op: id, Kind: engine.Cancel, Err: ErrClosed})
		l.perform()
	}
	for l.engine.Live() > 0 {
		l.drained.Wait()
	}
	l.bodies.close()
	return nil
}

func (l *Loop) event(v engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.engine.Event(v)
	l.perform()
}

// chunk delivers data and then waits while too much of it is unread.
func (l *Loop) chunk(v engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.engine.Event(v)
	l.perform()
	for l.engine.Backlog(v.Op, v.Stream) > maxBacklog {
		l.drained.Wait()
	}
}

// perform does what the engine ordered. Nothing in it blocks.
func (l *Loop) perform() {
	for _, o := range l.engine.Take() {
		l.do(o)
	}
	l.drained.Broadcast()
}

func (l *Loop) do(o engine.Out) {
	k := key{o.Op, o.Stream}
	switch o.Kind {
	case engine.HTTPRequest:
		l.begin(k, newExchange(l.runs[o.Op].ctx, l, k, o))
	case engine.SocketDial:
		l.begin(k, newSocket(l, k, o.Socket))
	case engine.StoreCall:
		l.begin(k, newStoreCall(l, k, o))
	case engine.TimerSet:
		if l.streams[k] == nil {
			l.streams[k] = &timer{l: l, k: k}
		}
		l.streams[k].take(o)
	case engine.HTTPAbort, engine.SocketClose, engine.TimerClear, engine.StoreRelease:
		l.stop(k)
	case engine.Result:
		l.runs[o.Op].result <- o
	case engine.Done:
		delete(l.runs, o.Op)
	case engine.Emit, engine.Output:
		// Nobody listens on this loop.
	default:
		if s := l.streams[k]; s != nil {
			s.take(o)
		}
	}
}

// worker is a stream that waits in a goroutine of its own.
type worker interface {
	stream
	work()
}

func (l *Loop) begin(k key, w worker) {
	l.streams[k] = w
	go w.work()
}

func (l *Loop) stop(k key) {
	if s := l.streams[k]; s != nil {
		delete(l.streams, k)
		s.stop()
	}
}

// open finds a body that was handed over.
func (l *Loop) open(op, id uint32) io.ReadCloser {
	if h := l.bodies.get(key{op, id}); h != nil {
		return h
	}
	return nil
}

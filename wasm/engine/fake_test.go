package engine

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// get is ordinary core code: it waits for head and body on an idle clock.
func get(ctx context.Context, h transport.Host, url string) (string, error) {
	limited, reset, disarm := h.Limit(ctx, transport.ClockIdle, time.Second)
	defer disarm()
	r, err := h.Do(limited, &transport.Request{Method: "GET", URL: url})
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	var all []byte
	for {
		b, err := r.Body.Next(limited)
		if err == io.EOF {
			return string(all), nil
		}
		if err != nil {
			return string(all), err
		}
		reset()
		all = append(all, b...)
	}
}

// getting is get as an operation.
func getting(url string) Func {
	return func(ctx context.Context, h transport.Host) (any, error) { return get(ctx, h, url) }
}

type key struct{ op, stream uint32 }

// fakeHost keeps the books of what the engine ordered, and answers when told.
type fakeHost struct {
	*testing.T
	e       *Engine
	log     []Out
	results map[uint32]Out
	open    map[key]*transport.Request
	timers  map[key]time.Duration
	aborts  int
}

func fakeOptions() Options {
	return Options{HasStore: true, Spare: 2, Rand: func(b []byte) { clear(b) }, Now: func() time.Time { return time.Unix(0, 0) }}
}

func newFake(t *testing.T) *fakeHost {
	e := New(fakeOptions())
	t.Cleanup(e.Close)
	return &fakeHost{
		T: t, e: e, results: map[uint32]Out{},
		open: map[key]*transport.Request{}, timers: map[key]time.Duration{},
	}
}

func (f *fakeHost) call(id uint32, fn Func) {
	f.Helper()
	require.NoError(f, f.e.Call(id, fn))
	f.pump()
}

func (f *fakeHost) event(v Event) (held bool) {
	held = f.e.Event(v)
	f.pump()
	return held
}

func (f *fakeHost) pump() {
	for _, o := range f.e.Take() {
		f.log = append(f.log, o)
		k := key{o.Op, o.Stream}
		switch o.Kind {
		case HTTPRequest:
			f.open[k] = o.Request
		case HTTPAbort:
			f.aborts++
			delete(f.open, k)
		case TimerSet:
			f.timers[k] = o.After
		case TimerClear:
			require.Contains(f, f.timers, k, "a timer that is not set is cleared")
			delete(f.timers, k)
		case Result:
			require.NotContains(f, f.results, o.Op, "two results")
			f.results[o.Op] = o
		}
	}
}

func (f *fakeHost) head(k key, status int) {
	f.event(Event{Op: k.op, Stream: k.stream, Kind: HTTPHead, Status: status})
}

func (f *fakeHost) chunk(k key, data string) {
	f.event(Event{Op: k.op, Stream: k.stream, Kind: HTTPChunk, Data: []byte(data)})
}

// answer answers one request, a byte a chunk.
func (f *fakeHost) answer(k key, body string) {
	delete(f.open, k)
	f.head(k, 200)
	for i := range len(body) {
		f.chunk(k, body[i:i+1])
	}
	f.event(Event{Op: k.op, Stream: k.stream, Kind: HTTPEnd})
}

func (f *fakeHost) answerAll(body string) {
	for len(f.open) > 0 {
		for k := range f.open {
			f.answer(k, body)
		}
	}
}

// fail ends one request with an error.
func (f *fakeHost) fail(k key, err error) {
	delete(f.open, k)
	f.event(Event{Op: k.op, Stream: k.stream, Kind: HTTPError, Err: err})
}

func (f *fakeHost) cancel(op uint32, cause error) { f.event(Event{Op: op, Kind: Cancel, Err: cause}) }

func (f *fakeHost) fire(k key) {
	delete(f.timers, k)
	f.event(Event{Op: k.op, Stream: k.stream, Kind: TimerFired})
}

// only is the one request that is open.
func (f *fakeHost) only() key {
	f.Helper()
	require.Len(f, f.open, 1)
	for k := range f.open {
		return k
	}
	return key{}
}

func (f *fakeHost) count(op uint32, kind OutKind) (n int) {
	for _, o := range f.log {
		if o.Op == op && o.Kind == kind {
			n++
		}
	}
	return n
}

// nothingLeft wants an engine and a host without anything open.
func (f *fakeHost) nothingLeft() {
	f.Helper()
	require.Empty(f, f.open, "requests")
	require.Empty(f, f.timers, "timers")
	require.Zero(f, f.e.Live(), "operations")
	require.Empty(f, f.e.flights, "flights")
	require.Empty(f, f.e.queue, "queue")
}

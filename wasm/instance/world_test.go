package instance_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	mrand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
	"github.com/agent-sandbox/agent-sandbox/wasm/host"
)

type key struct{ op, stream uint32 }

// world is a host without a network: it answers what the core asks from tables,
// in an order, in pieces and with accidents that a seed chooses. Time passes only
// when nothing else can happen.
type world struct {
	*testing.T
	dice    *mrand.Rand
	m       host.Machine
	clock   *clock
	trouble bool // connections break and callers cancel

	ops     map[uint32]*op
	last    uint32
	talks   map[key]*talk
	timers  map[key]time.Time
	pending []byte // input of the next run
	said    hash.Hash
	runs    int
}

// op is one call, and everything that came of it.
type op struct {
	kind      string
	token     string
	out       bytes.Buffer
	result    json.RawMessage
	failure   *host.Failure
	cancelled bool
	done      bool
}

// talk is an exchange: the frames that are still to come.
type talk struct {
	coming []frame.Frame
	held   []frame.Frame // of a bulk body, until the core says where it goes
	lost   bool          // it may break
}

// clock is the calendar of a world.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Unix(1_800_000_000, 0)} }

// seeded gives true random bytes until begin, so that what the Go runtime does
// with them cannot hide behind a seed.
type seeded struct{ source *mrand.ChaCha8 }

func (s *seeded) begin(seed uint64) {
	s.source = mrand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1})
}

func (s *seeded) Read(p []byte) (int, error) {
	if s.source == nil {
		return rand.Read(p)
	}
	return s.source.Read(p)
}

func newWorld(t *testing.T, m host.Machine, c *clock, seed uint64) *world {
	return &world{
		T: t, dice: mrand.New(mrand.NewPCG(seed, 1)), m: m, clock: c, ops: map[uint32]*op{}, talks: map[key]*talk{}, timers: map[key]time.Time{},
		said: sha256.New(),
	}
}

func (w *world) input(k key, kind frame.Kind, payload []byte, more ...[]byte) {
	w.pending = frame.Append(w.pending, frame.Frame{Op: k.op, Stream: k.stream, Kind: kind, Payload: payload}, more...)
}

// call begins a call; params are JSON, attached its bytes.
func (w *world) call(o *op, method string, params map[string]any, attached []byte) uint32 {
	w.last++
	w.ops[w.last] = o
	text, err := json.Marshal(map[string]any{
		"method": method, "params": params,
		"client":  json.RawMessage(`{"arguments":{"provider":"e2b","api_key":"e2b_0","api_url":"http://api.test","sandbox_url":"http://data.test"}}`),
		"sandbox": json.RawMessage(`{"provider":"e2b","sandbox_id":"i1","domain":"d.test","envd_version":"0.6.13","urls":{"sandbox":"http://data.test"},"tokens":{"envd":"t"}}`),
	})
	require.NoError(w, err)
	w.input(key{w.last, 0}, frame.Call, frame.Mixed(text), attached)
	return w.last
}

// run gives the core what is pending and performs what comes out.
func (w *world) run() {
	in := w.pending
	w.pending = nil
	w.runs++
	out, err := w.m.Run(in)
	require.NoError(w, err)
	w.said.Write(out)
	for len(out) > 0 {
		var f frame.Frame
		f, out, err = frame.Next(out)
		require.NoError(w, err)
		w.perform(f)
	}
}

func (w *world) perform(f frame.Frame) {
	k := key{f.Op, f.Stream}
	o := w.ops[f.Op]
	require.NotNil(w, o, "frame %d of nobody: %s", f.Kind, f.Payload)
	require.False(w, o.done, "frame %d after DONE", f.Kind)
	switch f.Kind {
	case frame.HTTPRequest:
		w.talks[k] = w.answer(f.Payload)
	case frame.HTTPAbort:
		delete(w.talks, k)
	case frame.BodyToHost, frame.BodyToCore:
		w.settleBody(k, o, f)
	case frame.TimerSet:
		w.timers[k] = w.clock.now.Add(time.Duration(binary.LittleEndian.Uint32(f.Payload)) * time.Millisecond)
	case frame.TimerClear:
		require.Contains(w, w.timers, k, "a timer that is not set is cleared")
		delete(w.timers, k)
	case frame.Stdout, frame.Object:
		o.out.Write(f.Payload)
	case frame.Messages:
		b := f.Payload
		o.out.Write(b[:len(b)-4-4*int(binary.LittleEndian.Uint32(b[len(b)-4:]))])
	case frame.Event:
	case frame.Result:
		require.True(w, o.result == nil && o.failure == nil, "two results")
		o.result = bytes.Clone(f.Payload)
	case frame.Error:
		require.True(w, o.result == nil && o.failure == nil, "two results")
		o.failure = &host.Failure{}
		require.NoError(w, json.Unmarshal(f.Payload, o.failure))
	case frame.Done:
		require.True(w, o.result != nil || o.failure != nil, "done without a result")
		o.done = true
		w.nothingLeftOf(f.Op)
	default:
		w.Fatalf("frame %d was not expected", f.Kind)
	}
}

// nothingLeftOf wants the exchanges of an operation that is done to be over. Its
// timers end with it.
func (w *world) nothingLeftOf(op uint32) {
	for k := range w.talks {
		require.NotEqual(w, op, k.op, "an exchange outlives its operation")
	}
	maps.DeleteFunc(w.timers, func(k key, _ time.Time) bool { return k.op == op })
}

// settleBody lets a bulk body go on; the host's part is delivered at once.
func (w *world) settleBody(k key, o *op, f frame.Frame) {
	t := w.talks[k]
	require.NotNil(w, t)
	if f.Kind == frame.BodyToCore {
		t.coming, t.held = t.held, nil
		return
	}
	n := 0
	for _, f := range t.held {
		if f.Kind == frame.HTTPChunk {
			o.out.Write(f.Payload)
			n += len(f.Payload)
		}
	}
	t.held, t.coming = nil, []frame.Frame{{Kind: frame.HTTPEnd, Payload: fmt.Appendf(nil, `{"bytes":%d}`, n)}}
}

// live are the streams that have something to say, in order.
func (w *world) live() []key {
	var all []key
	for k, t := range w.talks {
		if len(t.coming) > 0 {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b key) int { return int(a.op)<<16 + int(a.stream) - int(b.op)<<16 - int(b.stream) })
	return all
}

// step makes one thing happen; false when nothing can.
func (w *world) step() bool {
	live := w.live()
	switch {
	case len(live) > 0:
		for range 1 + w.dice.IntN(4) { // what is at hand crosses together
			w.speak(live[w.dice.IntN(len(live))])
		}
	case len(w.timers) > 0:
		w.wait()
	default:
		return false
	}
	if w.trouble && w.dice.IntN(6) == 0 {
		w.cancelOne()
	}
	w.run()
	return true
}

func (w *world) speak(k key) {
	t := w.talks[k]
	if t == nil || len(t.coming) == 0 {
		return
	}
	if w.trouble && t.lost && w.dice.IntN(60) == 0 {
		w.input(k, frame.HTTPError, []byte(`{"kind":"reset","host":"data.test:80","message":"the connection ended inside the exchange"}`))
		delete(w.talks, k)
		return
	}
	f := t.coming[0]
	t.coming = t.coming[1:]
	if f.Kind == frame.HTTPChunk && len(f.Payload) > 1 && w.dice.IntN(2) == 0 { // cut it anywhere
		n := 1 + w.dice.IntN(len(f.Payload)-1)
		t.coming = slices.Insert(t.coming, 0, frame.Frame{Kind: frame.HTTPChunk, Payload: f.Payload[n:]})
		f.Payload = f.Payload[:n]
	}
	w.input(k, f.Kind, f.Payload)
	if f.Kind == frame.HTTPEnd || f.Kind == frame.HTTPError {
		delete(w.talks, k)
	}
}

// wait passes the time until the next timer fires.
func (w *world) wait() {
	var first key
	for k, at := range w.timers {
		if first == (key{}) || at.Before(w.timers[first]) || (at.Equal(w.timers[first]) && (k.op < first.op || k.op == first.op && k.stream < first.stream)) {
			first = k
		}
	}
	w.clock.now = w.timers[first]
	delete(w.timers, first)
	w.input(first, frame.Timer, nil)
}

func (w *world) cancelOne() {
	id := uint32(1 + w.dice.IntN(int(w.last)))
	if o := w.ops[id]; !o.done && !o.cancelled {
		o.cancelled = true
		w.input(key{id, 0}, frame.Cancel, []byte(`{"reason":"cancel"}`))
	}
}

package instance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

const (
	mebibyte = 1 << 20
	// settling is how much the heap of a Go program may still grow once it has
	// seen everything that comes: it never gives back, and finds its level.
	settling = 2 * mebibyte
)

// started begins a command and tells it its first event.
func (w *world) started(token string) key {
	id := w.call(&op{kind: "run", token: token}, "commands.start", map[string]any{"command": token}, nil)
	w.run()
	for k := range w.talks {
		if k.op == id {
			for _, f := range w.talks[k].coming[:2] {
				w.input(k, f.Kind, f.Payload)
			}
			w.talks[k].coming = nil
			w.run()
			return k
		}
	}
	require.FailNow(w, "the command made no request")
	return key{}
}

func TestALotOfOutputKeepsTheMemoryFlat(t *testing.T) {
	total := 256 * mebibyte
	if soak() {
		total = 1024 * mebibyte
	}
	w, m := instanceOf(t, 1)
	k := w.started("flood")
	o := w.ops[k.op]
	chunk := w.envelope(stdoutEvent(make([]byte, 64<<10-64))).Payload
	began, half := time.Now(), 0
	got := 0
	for sent := 0; sent < total; sent += len(chunk) {
		w.input(k, frame.HTTPChunk, chunk)
		w.run()
		got += o.out.Len()
		o.out.Reset()
		if half == 0 && sent >= total/2 {
			half = m.MemorySize()
		}
	}
	t.Logf("%d MiB in %s, %.1f MiB of memory", total/mebibyte, time.Since(began).Round(time.Millisecond), float64(m.MemorySize())/mebibyte)
	require.GreaterOrEqual(t, got, total-total/512)
	require.LessOrEqual(t, m.MemorySize()-half, settling, "the memory grew in the second half")
	require.LessOrEqual(t, m.MemorySize(), 32*mebibyte)
}

// A cut in every envelope takes the copying path.
func TestOutputInOddPiecesKeepsTheMemoryFlat(t *testing.T) {
	w, m := instanceOf(t, 1)
	k := w.started("flood")
	o := w.ops[k.op]
	var all []byte
	for range 16 {
		all = append(all, w.envelope(stdoutEvent(make([]byte, 50_000))).Payload...)
	}
	for range 40 {
		for rest := all; len(rest) > 0; {
			n := min(65_536, len(rest))
			w.input(k, frame.HTTPChunk, rest[:n])
			w.run()
			rest = rest[n:]
		}
		require.Equal(t, 16*50_000, o.out.Len())
		o.out.Reset()
	}
	require.LessOrEqual(t, m.MemorySize(), 32*mebibyte)
}

func TestAThousandParkedStreamsAreSmall(t *testing.T) {
	const streams, most = 1000, 24 << 10
	w, m := instanceOf(t, 1)
	w.started("first")
	before := m.MemorySize()
	var all []key
	for range streams {
		all = append(all, w.started("parked"))
	}
	each := (m.MemorySize() - before) / streams
	t.Logf("%d bytes a stream", each)
	require.LessOrEqual(t, each, most)
	require.LessOrEqual(t, m.MemorySize(), 32*mebibyte)
	for _, k := range all { // each is alive, and alone
		w.input(k, frame.HTTPChunk, w.envelope(stdoutEvent([]byte("x"))).Payload)
	}
	w.run()
	for _, k := range all {
		require.Equal(t, "x", w.ops[k.op].out.String())
	}
}

// Cancelled commands leave nothing behind.
func TestCancelledCommandsKeepTheMemoryFlat(t *testing.T) {
	commands := 500
	if soak() {
		commands = 10_000
	}
	w, m := instanceOf(t, 1)
	var half int
	for i := range commands {
		k := w.started("cancelled")
		o := w.ops[k.op]
		w.input(key{k.op, 0}, frame.Cancel, []byte(`{"reason":"cancel"}`))
		w.run()
		for !o.done && w.step() {
		}
		require.True(t, o.done)
		require.Equal(t, "E5006", o.failure.Code)
		delete(w.ops, k.op)
		if i == commands/2 {
			half = m.MemorySize()
		}
	}
	require.LessOrEqual(t, m.MemorySize()-half, settling, "the memory grew in the second half")
	require.Empty(t, w.talks)
	require.Empty(t, w.timers)
}

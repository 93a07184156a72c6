package instance_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// coding begins a run of code whose answer is the test's.
func (w *world) coding() key {
	id := w.call(&op{kind: "code", token: "x"}, "sandbox.run_code", map[string]any{"code": "x"}, nil)
	w.run()
	for k := range w.talks {
		if k.op == id {
			w.talks[k].coming = nil
			w.input(k, frame.HTTPHead, []byte(`{"status":200,"headers":[]}`))
			w.run()
			return k
		}
	}
	require.FailNow(w, "the code made no request")
	return key{}
}

// Much output, in one message or in many, and a picture of any size take no more
// memory than little.
func TestCodeKeepsTheMemoryFlat(t *testing.T) {
	total := 64 * mebibyte
	if soak() {
		total = 1024 * mebibyte
	}
	line := strings.Repeat("some words ", 7) + `\n`
	message := fmt.Sprintf(`{"type": "stdout", "text": "%s", "timestamp": "t"}`+"\n", strings.Repeat(line, 2000))
	small := strings.Repeat(`{"type": "stdout", "text": "a\n", "timestamp": "t"}`+"\n", 1000)
	for name, c := range map[string]struct{ before, piece, after string }{
		"messages":       {"", message, ""},
		"small messages": {"", small, ""},
		"one message":    {`{"type": "stdout", "text": "`, strings.Repeat(line, 800), `"}` + "\n"},
		"a picture":      {`{"type": "result", "png": "`, strings.Repeat("QUJD", 16_000), `"}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w, m := instanceOf(t, 1)
			k := w.coding()
			o := w.ops[k.op]
			w.input(k, frame.HTTPChunk, []byte(c.before))
			began, half, got := time.Now(), 0, 0
			for sent := 0; sent < total; sent += len(c.piece) {
				w.input(k, frame.HTTPChunk, []byte(c.piece))
				w.run()
				got += o.out.Len()
				o.out.Reset()
				if half == 0 && sent >= total/2 {
					half = m.MemorySize()
				}
			}
			w.input(k, frame.HTTPChunk, []byte(c.after+`{"type": "end_of_execution"}`))
			w.input(k, frame.HTTPEnd, nil)
			delete(w.talks, k)
			w.run()
			t.Logf("%d MiB in %s, %.1f MiB of memory", total/mebibyte, time.Since(began).Round(time.Millisecond), float64(m.MemorySize())/mebibyte)
			require.True(t, o.done)
			require.Nil(t, o.failure)
			require.Positive(t, got)
			require.LessOrEqual(t, m.MemorySize()-half, settling, "the memory grew in the second half")
			require.LessOrEqual(t, m.MemorySize(), 32*mebibyte)
		})
	}
}

// What code prints and shows is the same however its answer is cut.
func TestCodeIsTheSameHoweverItIsCut(t *testing.T) {
	token := "é😀"
	for seed := range uint64(20) {
		w, _ := instanceOf(t, seed)
		id := w.call(&op{kind: "code", token: token}, "sandbox.run_code", map[string]any{"code": token}, nil)
		for w.run(); w.step(); {
		}
		o := w.ops[id]
		require.True(t, o.done)
		require.True(t, ranItself(o), o.out.String())
		require.True(t, bytes.Equal([]byte("{}"), o.result), "%s", o.result)
	}
}

package shell

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// BenchmarkRun is one commands.run: a call, and its answer in one piece.
func BenchmarkRun(b *testing.B) {
	s := newShell()
	ask := call(1, "commands.run", `{"command":"true"}`)
	out := s.Run(ask)
	var stream uint32
	for rest := out[totalSize:]; len(rest) > 0; {
		f, more, err := frame.Next(rest)
		if err != nil {
			b.Fatal(err)
		}
		if f.Kind == frame.HTTPRequest {
			stream = f.Stream
		}
		rest = more
	}
	answers := bytes.Join([][]byte{
		answer(1, stream, 200, protoStream), report(1, stream, frame.HTTPChunk, begun(7)+over()), report(1, stream, frame.HTTPEnd, ""),
	}, nil)
	s.Run(answers)
	b.ReportAllocs()
	for b.Loop() {
		s.Run(ask)
		s.Run(answers)
	}
	if s.engine.Live() != 0 {
		b.Fatal("the operation is not done")
	}
}

// BenchmarkOutput is a chunk of 64 KiB of a command's output.
func BenchmarkOutput(b *testing.B) {
	p := &play{&testing.T{}, newShell()}
	r := p.only(p.give(call(1, "commands.run", `{"command":"x"}`)), frame.HTTPRequest)
	p.give(answer(1, r.Stream, 200, protoStream), report(1, r.Stream, frame.HTTPChunk, begun(7)))
	chunk := report(1, r.Stream, frame.HTTPChunk, said(strings.Repeat("x", 64<<10)))
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		copy(p.s.Buffer(len(chunk)), chunk)
		p.s.RunBuffer(len(chunk))
	}
}

// Package shell is the core behind frames: bytes in, bytes out (wasm/ABI.md). It
// is what core.wasm exports, and runs natively too.
package shell

import (
	"encoding/binary"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/method"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// Options are what frames do not carry.
type Options struct {
	Rand func([]byte)     // fills its argument with strong random bytes; needed
	Now  func() time.Time // the calendar time; needed
	Trap func()           // ends everything at once, for test.trap; nil = a contained panic
	// Spare is how many idle coroutines are kept for the next operations. 0 = none:
	// natively a goroutine is cheap, and one that is kept has to be ended.
	Spare int
}

// Shell holds the live operations of one host. It is not safe for concurrent use.
// The same input, random bytes and times give the same output, byte for byte.
type Shell struct {
	options  Options
	engine   *engine.Engine
	methods  map[string]*method.Method
	accounts texts[method.Account]
	handles  texts[handle.Handle]
	timers   timers
	now      time.Time // of this turn; zero = not asked for yet
	in       []byte
	out      []byte
}

// New makes a shell.
func New(o Options) *Shell {
	s := &Shell{options: o, methods: map[string]*method.Method{}}
	for _, m := range method.Table() {
		s.methods[m.Name] = &m
	}
	s.engine = engine.New(engine.Options{HasStore: true, Rand: o.Rand, Now: s.time, Sink: s.take, Spare: o.Spare})
	return s
}

// totalSize is the length of what stands before the output frames.
const totalSize = 4

// keptBuffer is how large a buffer may be to be kept for the next turn. Linear
// memory never shrinks: one large message must not be paid for twice.
const keptBuffer = 2 << 20

// Buffer is a buffer for n bytes of input, valid until the next Buffer or Run.
func (s *Shell) Buffer(n int) []byte {
	if cap(s.in) < n {
		s.in = make([]byte, max(n, firstBuffer))
	}
	s.in = s.in[:cap(s.in)]
	return s.in
}

const firstBuffer = 128 << 10

// RunBuffer is Run on the first n bytes of the last Buffer.
func (s *Shell) RunBuffer(n int) []byte {
	held := false
	out := s.run(s.in[:min(n, len(s.in))], &held)
	if held || cap(s.in) > keptBuffer {
		s.in = nil // somebody still looks at it, or it is too large to keep
	}
	return out
}

// Run takes input frames, runs every operation that they concern until it waits
// again, and gives u32 total and the output frames, valid until the next call. The
// input must not change afterwards.
func (s *Shell) Run(in []byte) []byte {
	held := false
	return s.run(in, &held)
}

// time is asked for once a turn: within one no time passes.
func (s *Shell) time() time.Time {
	if s.now.IsZero() {
		s.now = s.options.Now()
	}
	return s.now
}

func (s *Shell) run(in []byte, held *bool) []byte {
	if cap(s.out) > keptBuffer {
		s.out = nil
	}
	s.out = append(s.out[:0], 0, 0, 0, 0)
	s.now = time.Time{}
	for len(in) > 0 {
		f, rest, err := frame.Next(in)
		if err != nil {
			s.complain("the input ends inside a frame")
			break
		}
		in = rest
		if s.give(f) {
			*held = true
		}
	}
	s.out = s.timers.append(s.out)
	binary.LittleEndian.PutUint32(s.out, uint32(len(s.out)-totalSize)) //nolint:gosec // output is far below 4 GiB
	return s.out
}

package host

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
	"github.com/agent-sandbox/agent-sandbox/wasm/shell"
)

// Machine is one instance of the core. It is called by one goroutine at a time.
type Machine interface {
	// Run takes input frames and gives the output frames, valid until the next
	// call. The input is the machine's from then on. After an error the machine
	// is not called again, but for Close.
	Run(in []byte) (out []byte, err error)
	Close() error
}

// ErrCut is output that ends inside a frame: the machine is broken.
var ErrCut = errors.New("the core's output is cut")

// Frames takes off the total that stands before output frames.
func Frames(out []byte) ([]byte, error) {
	if len(out) < 4 {
		return nil, ErrCut
	}
	n := uint64(binary.LittleEndian.Uint32(out))
	if uint64(len(out)-4) < n {
		return nil, ErrCut
	}
	return out[4 : 4+n], nil
}

// errTrapped is a machine that ended by test.trap.
var errTrapped = errors.New("the core ended: test.trap")

// native is the core as ordinary Go code.
type native struct {
	shell   *shell.Shell
	trapped bool
}

// Native gives machines that run the core natively. Random bytes and times come
// from o; its Trap is not used.
func Native(o shell.Options) func() (Machine, error) {
	return func() (Machine, error) {
		m := &native{}
		o.Trap = func() {
			m.trapped = true
			panic(errTrapped)
		}
		m.shell = shell.New(o)
		return m, nil
	}
}

// Run is Shell.Run. A panic that gets out of it ends the machine, as a trap would.
func (m *native) Run(in []byte) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the core ended: %v", p)
		}
	}()
	out = m.shell.Run(in)
	if m.trapped {
		return nil, errTrapped
	}
	return Frames(out)
}

// Close does nothing: memory is collected.
func (m *native) Close() error { return nil }

// input is one input frame.
func input(k key, kind frame.Kind, payload []byte, more ...[]byte) []byte {
	n := len(payload) + 32
	for _, p := range more {
		n += len(p)
	}
	return frame.Append(make([]byte, 0, n), frame.Frame{Op: k.op, Stream: k.stream, Kind: kind, Payload: payload}, more...)
}

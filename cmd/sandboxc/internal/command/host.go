package command

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/wasm/shell"
)

// Host is `sandboxc host`: the core for a host in another language that cannot
// run WebAssembly.
type Host struct {
	Stdio bool `help:"Speak the frames of wasm/ABI.md over stdin and stdout, until stdin ends." required:""`
}

// Run serves until the end of stdin.
func (*Host) Run(*App) error { return serveFrames(os.Stdin, os.Stdout) }

// maxBlock bounds one block of input frames: hosts gather at most 1 MiB, and one
// message has at most 16 MiB.
const maxBlock = 64 << 20

// serveFrames answers each block of input frames (u32 total, frames) with one
// block of output frames.
func serveFrames(in io.Reader, out io.Writer) error {
	s := shell.New(shell.Options{
		Rand: func(b []byte) { _, _ = rand.Read(b) }, // never fails: it ends the program
		Now:  time.Now,
		Trap: func() { os.Exit(70) }, // as an instance that traps: nothing answers any more
	})
	r := bufio.NewReader(in)
	for {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(head[:])
		if n > maxBlock {
			return fault.InvalidArgument("a block of %d bytes is more than %d: are these frames?", n, maxBlock)
		}
		if _, err := io.ReadFull(r, s.Buffer(int(n))[:n]); err != nil {
			return err
		}
		if _, err := out.Write(s.RunBuffer(int(n))); err != nil {
			return err
		}
	}
}

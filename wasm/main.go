//go:build wasip1

// Command wasm is core.wasm: the shell behind five exports (ABI.md).
package main

import (
	"os"
	"time"
	"unsafe"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
	"github.com/agent-sandbox/agent-sandbox/wasm/shell"
)

// one is the instance's shell: exports have no receiver.
var one = shell.New(shell.Options{Rand: random, Now: time.Now, Trap: trap, Spare: 16})

//go:wasmimport wasi_snapshot_preview1 random_get
func randomGet(at unsafe.Pointer, n uint32) uint32

// pool holds random bytes that are not used yet: asking the host for each few costs
// more than the call that needs them.
var pool []byte

const poolSize = 1024

func random(b []byte) {
	for len(b) > 0 {
		if len(pool) == 0 {
			fresh := make([]byte, poolSize)
			if randomGet(unsafe.Pointer(unsafe.SliceData(fresh)), poolSize) != 0 {
				panic("the host gave no random bytes")
			}
			pool = fresh
		}
		n := copy(b, pool)
		clear(pool[:n])
		b, pool = b[n:], pool[n:]
	}
}

func trap() {
	println("test.trap")
	os.Exit(70)
}

//go:wasmexport abi_version
func abiVersion() uint32 { return frame.Version }

//go:wasmexport in_buf
func inBuf(n uint32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(one.Buffer(int(n)))) }

//go:wasmexport in_cap
func inCap() uint32 { return uint32(len(one.Buffer(0))) }

//go:wasmexport run
func run(n uint32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(one.RunBuffer(int(n)))) }

func main() {}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// flat is what sandboxc may hold at its peak, in KiB, the in-process server
// included: far less than what passes through.
const flat = 64 << 10

func TestMuchOutputIsExactAndMemoryStaysFlat(t *testing.T) {
	needRoot(t)
	if raceDetector {
		t.Skip("the race detector holds memory of its own")
	}
	p := newProgram(t)
	cmd := p.command("run", "--", "head", "-c", "268435456", "/dev/zero")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	sum := sha256.New()
	n, err := io.Copy(sum, out)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	require.EqualValues(t, 256<<20, n)
	require.Equal(t, "a6d72ac7690f53be6ae46ba88506bd97302a093f7108472bd9efc3cefda06484", hex.EncodeToString(sum.Sum(nil)))
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(t, ok)
	require.Less(t, usage.Maxrss, int64(flat))
}

func TestMuchInputIsExactAndMemoryStaysFlat(t *testing.T) {
	needRoot(t)
	if raceDetector {
		t.Skip("the race detector holds memory of its own")
	}
	p := newProgram(t)
	cmd := p.command("run", "--", "wc", "-c")
	cmd.Stdin = io.LimitReader(zeros{}, 200<<20)
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "209715200\n", string(out))
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(t, ok)
	require.Less(t, usage.Maxrss, int64(flat))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

package main

import (
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// TestHostSpeaksFramesOverPipes: one block of answers to one block of input, until
// the end of stdin.
func TestHostSpeaksFramesOverPipes(t *testing.T) {
	cmd := newProgram(t).command("host", "--stdio")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ask := func(frames []byte) (answer []frame.Frame) {
		_, err := in.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(frames))), frames...)) //nolint:gosec // small
		require.NoError(t, err)
		var head [4]byte
		_, err = io.ReadFull(out, head[:])
		require.NoError(t, err)
		b := make([]byte, binary.LittleEndian.Uint32(head[:]))
		_, err = io.ReadFull(out, b)
		require.NoError(t, err)
		for len(b) > 0 {
			f, rest, err := frame.Next(b)
			require.NoError(t, err)
			answer, b = append(answer, f), rest
		}
		return answer
	}
	call := func(op uint32, text string) []byte {
		return frame.Append(nil, frame.Frame{Op: op, Kind: frame.Call, Payload: frame.Mixed([]byte(text))})
	}
	require.Empty(t, ask(nil))
	got := ask(append(call(1, `{"method":"settings.resolve","client":{"arguments":{"provider":"local"}}}`), call(2, `{"method":"test.panic"}`)...))
	require.Len(t, got, 4)
	require.Equal(t, frame.Result, got[0].Kind)
	require.Contains(t, string(got[0].Payload), `"needs_server":true`)
	require.Equal(t, []frame.Kind{frame.Done, frame.Error, frame.Done}, []frame.Kind{got[1].Kind, got[2].Kind, got[3].Kind})
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}

func TestHostEndsWhenTheCoreTraps(t *testing.T) {
	cmd := newProgram(t).command("host", "--stdio")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	f := frame.Append(nil, frame.Frame{Op: 1, Kind: frame.Call, Payload: frame.Mixed([]byte(`{"method":"test.trap"}`))})
	_, err = in.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(f))), f...)) //nolint:gosec // small
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Equal(t, 70, cmd.ProcessState.ExitCode())
}

package method

import (
	"context"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// listener keeps copies of the batches that it gets.
type listener struct{ batches [][]byte }

func (l *listener) Event(string, any) {}

func (l *listener) Output(_ plane.Channel, b []byte) {
	l.batches = append(l.batches, append([]byte(nil), b...))
}
func (l *listener) Input(context.Context) ([]byte, error) { return nil, io.EOF }
func (l *listener) Source(SourceRef) transport.Source     { return nil }
func (l *listener) Trap()                                 {}

// texts are the messages of all batches.
func (l *listener) texts() []string {
	var out []string
	for _, b := range l.batches {
		n := int(binary.LittleEndian.Uint32(b[len(b)-4:]))
		sizes, at := b[len(b)-4-4*n:len(b)-4], 0
		for ; len(sizes) > 0; sizes = sizes[4:] {
			size := int(binary.LittleEndian.Uint32(sizes) >> 1)
			out = append(out, string(b[at:at+size]))
			at += size
		}
	}
	return out
}

// What is behind a message in its memory is the reader's: the rest of a character
// that waits for its end.
func TestMessagesLeaveTheMemoryBehindThemAlone(t *testing.T) {
	for _, size := range []int{10, 40 << 10, 1 << 20, 3 << 20} {
		l := &listener{}
		c := &codeCaller{caller: l, end: &CodeEnd{}}
		b := make([]byte, size+100)
		for i := range b {
			b[i] = byte('a' + i%26)
		}
		want := string(b)
		require.NoError(t, c.Output(plane.Stdout, []byte("first")))
		require.NoError(t, c.Output(plane.Stdout, b[:size]))
		require.NoError(t, c.Output(plane.Stderr, []byte("last")))
		require.NoError(t, c.Pause())
		require.True(t, want == string(b), "a message of %d", size)
		require.Equal(t, []string{"first", want[:size], "last"}, l.texts())
	}
}

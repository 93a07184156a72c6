package connect

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

type envelope struct {
	flags byte
	msg   []byte
}

func (e envelope) encode() []byte {
	b := beginEnvelope(nil)
	b[0] = e.flags
	return endEnvelope(append(b, e.msg...), 0)
}

// decodeAll feeds chunks and copies every message, as it is valid for one pop only.
func decodeAll(t testing.TB, limit int, chunks ...[]byte) (all []envelope, err error) {
	t.Helper()
	d := decoder{max: limit}
	for _, chunk := range chunks {
		d.push(bytes.Clone(chunk))
		for {
			flags, msg, ok, err := d.pop()
			if err != nil {
				return all, err
			}
			if !ok {
				break
			}
			all = append(all, envelope{flags, append([]byte{}, msg...)})
		}
	}
	return all, nil
}

// decodeWhole is the reference: it looks at the whole input at once.
func decodeWhole(limit int, b []byte) (all []envelope, ok bool) {
	for len(b) >= headSize {
		n := int(binary.BigEndian.Uint32(b[1:]))
		if b[0]&^flagEnd != 0 || n > limit {
			return all, false
		}
		if len(b) < headSize+n {
			break
		}
		all = append(all, envelope{b[0], append([]byte{}, b[headSize:headSize+n]...)})
		b = b[headSize+n:]
	}
	return all, true
}

var nastyMessages = []envelope{
	{0, []byte{}},
	{0, []byte("a")},
	{0, bytes.Repeat([]byte{0}, 5)},
	{0, []byte{2, 0, 0, 0, 1}},
	{0, bytes.Repeat([]byte("xy"), 300)},
	{0, []byte("é😀")},
	{flagEnd, []byte("{}")},
}

func nastyStream() (b []byte) {
	for _, e := range nastyMessages {
		b = append(b, e.encode()...)
	}
	return b
}

func TestDecoderIsTheSameAtEverySplit(t *testing.T) {
	b := nastyStream()
	for i := range b {
		all, err := decodeAll(t, DefaultMaxMessage, b[:i], b[i:])
		require.NoError(t, err)
		require.Equal(t, nastyMessages, all, "split at %d", i)
	}
}

func TestDecoderIsTheSameInPiecesOfAnySize(t *testing.T) {
	b := nastyStream()
	for size := 1; size <= 17; size++ {
		var chunks [][]byte
		for rest := b; len(rest) > 0; {
			n := min(size, len(rest))
			chunks, rest = append(chunks, rest[:n], nil), rest[n:]
		}
		all, err := decodeAll(t, DefaultMaxMessage, chunks...)
		require.NoError(t, err)
		require.Equal(t, nastyMessages, all, "pieces of %d", size)
	}
}

func TestDecoderRefusesWhatIsTooLargeBeforeItComes(t *testing.T) {
	head := binary.BigEndian.AppendUint32([]byte{0}, 101)
	for cut := range head {
		_, err := decodeAll(t, 100, head[:cut], head[cut:])
		require.ErrorContains(t, err, "101 bytes")
	}
	_, err := decodeAll(t, 100, binary.BigEndian.AppendUint32([]byte{0}, 0xffffffff))
	require.Error(t, err)
	all, err := decodeAll(t, 100, envelope{0, make([]byte, 100)}.encode())
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestDecoderRefusesUnknownFlags(t *testing.T) {
	for flags := range 256 {
		_, err := decodeAll(t, 100, envelope{byte(flags), nil}.encode())
		if flags&^flagEnd == 0 {
			require.NoError(t, err)
			continue
		}
		require.Error(t, err, "flags %#x", flags)
	}
}

func TestDecoderBuffersNoMoreThanTheMessage(t *testing.T) {
	d := decoder{max: DefaultMaxMessage}
	d.push(binary.BigEndian.AppendUint32([]byte{0}, DefaultMaxMessage))
	_, _, ok, err := d.pop()
	require.NoError(t, err)
	require.False(t, ok)
	require.Less(t, cap(d.part), 1<<10, "a claimed size must not be reserved before its bytes come")
}

func FuzzDecoder(f *testing.F) {
	f.Add(nastyStream(), 1, 7)
	f.Add([]byte{0, 0, 0, 0, 9, 1}, 2, 3)
	f.Add([]byte{1, 255, 255, 255, 255}, 0, 0)
	f.Fuzz(func(t *testing.T, b []byte, first, second int) {
		const limit = 1 << 10
		want, fine := decodeWhole(limit, b)
		i := int(uint(first) % uint(len(b)+1))
		j := i + int(uint(second)%uint(len(b)-i+1))
		got, err := decodeAll(t, limit, b[:i], b[i:j], b[j:])
		require.Equal(t, want, got)
		require.Equal(t, fine, err == nil)
	})
}

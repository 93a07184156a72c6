package frame

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsAppendedIsReadBack(t *testing.T) {
	var b []byte
	for n := range 9 {
		b = Append(b, Frame{Op: uint32(n), Stream: 7, Kind: Stdout, Payload: bytes.Repeat([]byte{1}, n)}, []byte("xy")) //nolint:gosec // small
		require.Zero(t, len(b)%4)
	}
	for n := range 9 {
		f, rest, err := Next(b)
		require.NoError(t, err)
		require.Equal(t, Frame{Op: uint32(n), Stream: 7, Kind: Stdout, Payload: append(bytes.Repeat([]byte{1}, n), "xy"...)}, f) //nolint:gosec // small
		b = rest
	}
	require.Empty(t, b)
}

func TestMixed(t *testing.T) {
	text, raw, err := Split(append(Mixed([]byte("{}")), "raw"...))
	require.NoError(t, err)
	require.Equal(t, "{}", string(text))
	require.Equal(t, "raw", string(raw))
	for _, bad := range []string{"", "abc", "\x05\x00\x00\x00{}"} {
		_, _, err := Split([]byte(bad))
		require.ErrorIs(t, err, ErrTruncated)
	}
}

func FuzzNext(f *testing.F) {
	f.Add(Append(nil, Frame{Op: 1, Kind: Call, Payload: Mixed([]byte("{}"))}))
	f.Add([]byte("\xff\xff\xff\xff0123456789ab"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			f, rest, err := Next(b)
			if err != nil {
				return
			}
			require.Less(t, len(rest), len(b))
			_, _, _ = Split(f.Payload)
			b = rest
		}
	})
}

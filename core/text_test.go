package core

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"
)

const nasty = "A\xe2\x82\xac\xf0\x9f\x98\x80\xc3(\xe2\x82\xf0\x9f\x98\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80\xff\xfe\xef\xbb\xbf\xe2\x80\xa8\x00\r\n\xf0\x9f\x98"

// reference is a decoder that others wrote, by the same standard.
func reference(t testing.TB, b []byte) string {
	s, err := unicode.UTF8.NewDecoder().Bytes(b)
	require.NoError(t, err)
	return string(s)
}

func decoded(pieces ...[]byte) string {
	var d TextDecoder
	var s strings.Builder
	for _, p := range pieces {
		s.WriteString(d.Decode(p))
	}
	return s.String() + d.Flush()
}

func TestTextIsTheSameAtEverySplit(t *testing.T) {
	b := []byte(nasty)
	want := reference(t, b)
	require.Equal(t, want, toText(b))
	for i := range b {
		for j := i; j < len(b); j++ {
			require.Equal(t, want, decoded(b[:i], b[i:j], b[j:]), "split at %d and %d", i, j)
		}
	}
}

func TestTextByteByByte(t *testing.T) {
	var pieces [][]byte
	for i := range len(nasty) {
		pieces = append(pieces, []byte(nasty[i:i+1]))
	}
	require.Equal(t, reference(t, []byte(nasty)), decoded(pieces...))
}

func TestTextGivesACharacterOnceItIsWhole(t *testing.T) {
	var d TextDecoder
	require.Equal(t, "a", d.Decode([]byte("a\xf0\x9f")))
	require.Empty(t, d.Decode([]byte("\x98")))
	require.Equal(t, "😀b", d.Decode([]byte("\x80b")))
	require.Empty(t, d.Flush())
}

func TestTextKeepsNothingOfItsInput(t *testing.T) {
	var d TextDecoder
	b := []byte("a\xf0\x9f")
	d.Decode(b)
	copy(b, "zzz")
	require.Equal(t, "😀", d.Decode([]byte("\x98\x80")))
}

func TestTextAfterFlushIsNew(t *testing.T) {
	var d TextDecoder
	d.Decode([]byte("\xf0\x9f"))
	require.Equal(t, "\ufffd", d.Flush())
	require.Equal(t, "\ufffda", d.Decode([]byte("\x98a")))
}

func FuzzText(f *testing.F) {
	f.Add([]byte(nasty), 3, 4)
	f.Add([]byte("\xed\xa0\x80"), 1, 1)
	f.Fuzz(func(t *testing.T, b []byte, first, second int) {
		want := reference(t, b)
		require.Equal(t, want, toText(b))
		i := int(uint(first) % uint(len(b)+1))
		j := i + int(uint(second)%uint(len(b)-i+1))
		got := decoded(b[:i], b[i:j], b[j:])
		require.Equal(t, want, got)
		require.True(t, utf8.ValidString(got))
	})
}

func TestBlocksKeepEverythingInOrder(t *testing.T) {
	for _, size := range []int{1, 7, firstBlock - 1, firstBlock, firstBlock + 1, largestBlock, largestBlock + 1} {
		var k blocks
		var want strings.Builder
		for n := range 5 {
			piece := strings.Repeat(string(rune('a'+n)), size)
			k.write([]byte(piece))
			want.WriteString(piece)
		}
		require.Equal(t, want.String(), string(k.join()), "pieces of %d", size)
		require.Empty(t, k.join(), "joined once")
	}
}

func TestBlocksGrowLinearly(t *testing.T) {
	piece := make([]byte, 1000)
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			var k blocks
			for range 4000 {
				k.write(piece)
			}
			k.join()
		}
	}).AllocedBytesPerOp()
	require.Less(t, allocated, int64(3*4000*1000), "twice the data, and a little")
}

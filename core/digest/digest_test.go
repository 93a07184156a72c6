package digest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryLengthDigestsAsTheStandardLibrarysDoes(t *testing.T) {
	data := make([]byte, 300)
	for i := range data {
		data[i] = byte(i * 7)
	}
	for n := range data {
		require.Equal(t, sha256.Sum256(data[:n]), SHA256(data[:n]), n)
		mac := hmac.New(sha256.New, data[:n])
		mac.Write(data[n:])
		sum := HMAC(data[:n], data[n:])
		require.Equal(t, mac.Sum(nil), sum[:], n)
	}
}

func FuzzSHA256(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(bytes.Repeat([]byte("a"), 1000))
	f.Fuzz(func(t *testing.T, b []byte) { require.Equal(t, sha256.Sum256(b), SHA256(b)) })
}

func TestEqual(t *testing.T) {
	require.True(t, Equal([]byte("ab"), []byte("ab")))
	require.True(t, Equal(nil, []byte{}))
	require.False(t, Equal([]byte("ab"), []byte("ac")))
	require.False(t, Equal([]byte("ab"), []byte("abc")))
}

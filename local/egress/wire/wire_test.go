package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestSurvivesTheWire(t *testing.T) {
	for _, want := range []Request{
		{Kind: DNS},
		{Kind: Connect, Port: 443, Host: "203.0.113.7"},
		{Kind: Connect, Port: 65535, Host: strings.Repeat("a", MaxHost)},
	} {
		b, err := want.Append(nil)
		require.NoError(t, err)
		rest := bytes.NewReader(append(b, "payload"...))
		got, err := ReadRequest(rest)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, len("payload"), rest.Len(), "reads no byte of what follows")
	}
}

func TestRequestRefusesWhatIsNone(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":                {},
		"unknown kind":         {9, 0, 80, 1, 'a'},
		"connect to port 0":    {1, 0, 0, 1, 'a'},
		"connect without host": {1, 0, 80, 0},
		"cut host":             {1, 0, 80, 5, 'a'},
		"dns with host":        {2, 0, 0, 1, 'a'},
	} {
		_, err := ReadRequest(bytes.NewReader(b))
		require.Error(t, err, name)
	}
	_, err := Request{Kind: Connect, Port: 1, Host: strings.Repeat("a", MaxHost+1)}.Append(nil)
	require.ErrorIs(t, err, ErrMalformed)
}

func FuzzReadRequest(f *testing.F) {
	f.Add([]byte{1, 0, 80, 1, 'a'})
	f.Add([]byte{2, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ReadRequest(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := r.Append(nil)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(b, again))
	})
}

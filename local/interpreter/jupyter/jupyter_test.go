package jupyter

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
	"github.com/stretchr/testify/require"
)

func TestMessagesAreSigned(t *testing.T) {
	s := NewSession()
	r, err := s.Request("execute_request", map[string]string{"code": "a < b & '漢'"})
	require.NoError(t, err)
	m, err := s.parse(append([][]byte{[]byte("topic")}, r.frames...))
	require.NoError(t, err)
	require.Equal(t, "execute_request", m.Type)
	require.Equal(t, r.ID, m.ID)
	require.Empty(t, m.Parent)
	require.Equal(t, `{"code":"a < b & '漢'"}`, string(m.Content))

	_, err = NewSession().parse(r.frames)
	require.ErrorIs(t, err, errSignature, "another key")
	for part := partSignature + 1; part <= partCount; part++ {
		frames := append([][]byte{}, r.frames...)
		frames[part] = append([]byte(" "), frames[part]...)
		_, err = s.parse(frames)
		require.ErrorIs(t, err, errSignature, part)
	}
}

func TestWhatIsNoMessage(t *testing.T) {
	s := NewSession()
	for _, frames := range [][][]byte{nil, {[]byte("x")}, {delimiter}, {delimiter, nil, nil, nil, nil}} {
		_, err := s.parse(frames)
		require.ErrorIs(t, err, errNoDelimiter)
	}
	parts := [][]byte{nil, []byte("no JSON"), []byte("{}"), []byte("{}"), []byte("{}")}
	parts[0] = s.signature(parts)
	_, err := s.parse(append([][]byte{delimiter}, parts...))
	require.Error(t, err)
}

func TestNumbersThatAreNone(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": NaN, "b": [Infinity, -Infinity, -NaN, -1.5]}`: `{"a": null, "b": [null, null, null, -1.5]}`,
		`{"NaN": "Infinity, \"NaN", "c": "\\"}`:              `{"NaN": "Infinity, \"NaN", "c": "\\"}`,
		`NaN`:                                                `null`,
		`{"a": "open`:                                        `{"a": "open`,
		`{"a": Nope}`:                                        `{"a": Nope}`,
	} {
		require.Equal(t, want, string(standardNumbers([]byte(in))), in)
	}
	m := Message{Content: []byte(`{"x": NaN, "y": "NaN"}`)}
	var v map[string]any
	require.NoError(t, m.Decode(&v))
	require.Equal(t, map[string]any{"x": nil, "y": "NaN"}, v)
	require.Error(t, (&Message{Content: []byte(`{"x": `)}).Decode(&v))
}

func TestConnectionFile(t *testing.T) {
	s := NewSession()
	b, err := s.ConnectionFile(Sockets("/run/k"), "python3")
	require.NoError(t, err)
	var f map[string]any
	require.NoError(t, json.Unmarshal(b, &f))
	require.Equal(t, s.key, f["key"])
	require.Len(t, s.key, 64)
	require.Equal(t, "ipc", f["transport"])
	require.Equal(t, "/run/k", f["ip"])
	require.Equal(t, Endpoint{"iopub", "unix", "/run/k-2", true}, Sockets("/run/k").IOPub())

	e, err := Ports()
	require.NoError(t, err)
	seen := map[int]bool{}
	for _, p := range e.ports {
		require.False(t, seen[p], "each once")
		seen[p] = true
	}
	require.NotEqual(t, NewSession().key, s.key)
}

// fake is a kernel's socket that greets and then says what it likes.
func fake(t *testing.T, say []byte) *Channel {
	t.Helper()
	dir, err := os.MkdirTemp("", "z")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", dir+"/k-1")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if _, err := zmq4.Open(conn, null.Security(), zmq4.Router, nil, true, nil); err == nil {
			_, _ = conn.Write(say)
		}
		_, _ = io.Copy(io.Discard, conn)
	}()
	c, err := NewSession().Dial(t.Context(), Sockets(dir+"/k").Shell())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAnImpossibleLengthIsAnError(t *testing.T) {
	_, err := fake(t, []byte{2, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0}).Receive()
	require.ErrorIs(t, err, errLength)
}

func TestADialIsGivenUp(t *testing.T) {
	dir, err := os.MkdirTemp("", "z")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", dir+"/k-1")
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	// It accepts, and never greets.
	_, err = NewSession().Dial(ctx, Sockets(dir+"/k").Shell())
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func FuzzStandardNumbers(f *testing.F) {
	f.Add(`{"a": NaN, "b": "x\"NaN"}`)
	f.Fuzz(func(t *testing.T, in string) {
		out := standardNumbers([]byte(in))
		if json.Valid([]byte(in)) && string(out) != in {
			t.Fatalf("valid JSON %q became %q", in, out)
		}
	})
}

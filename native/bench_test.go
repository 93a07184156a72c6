package native

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func newBenchServer(b *testing.B) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "hello")
	}))
	b.Cleanup(s.Close)
	return s
}

func BenchmarkExchange(b *testing.B) {
	s := newBenchServer(b)
	h, err := NewHost(HostOptions{})
	require.NoError(b, err)
	defer h.Close()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		r, err := h.Do(ctx, &transport.Request{Method: "POST", URL: s.URL + "/x", Body: transport.Body{Bytes: []byte("body")}})
		require.NoError(b, err)
		for err == nil {
			_, err = r.Body.Next(ctx)
		}
		require.Equal(b, io.EOF, err)
		r.Body.Close()
	}
}

func BenchmarkBareSocket(b *testing.B) {
	s := newBenchServer(b)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	require.NoError(b, err)
	defer c.Close()
	r := bufio.NewReader(c)
	for b.Loop() {
		fmt.Fprintf(c, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody")
		for line := ""; line != "\r\n"; line, err = r.ReadString('\n') {
			require.NoError(b, err)
		}
		_, err = io.ReadFull(r, make([]byte, 5))
		require.NoError(b, err)
	}
}

func BenchmarkStream(b *testing.B) {
	chunk := make([]byte, 32<<10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 1024 {
			_, _ = w.Write(chunk)
			w.(http.Flusher).Flush()
		}
	}))
	defer s.Close()
	h, err := NewHost(HostOptions{})
	require.NoError(b, err)
	defer h.Close()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.SetBytes(32 << 20)
	for b.Loop() {
		r, err := h.Do(ctx, &transport.Request{Method: "GET", URL: s.URL})
		require.NoError(b, err)
		for err == nil {
			_, err = r.Body.Next(ctx)
		}
		require.Equal(b, io.EOF, err)
	}
}

func BenchmarkUpload(b *testing.B) {
	s := newBenchServer(b)
	h, err := NewHost(HostOptions{})
	require.NoError(b, err)
	defer h.Close()
	name := filepath.Join(b.TempDir(), "data")
	const size = 64 << 20
	require.NoError(b, os.WriteFile(name, make([]byte, size), 0o600))
	f, err := os.Open(name)
	require.NoError(b, err)
	defer f.Close()
	for kind, body := range map[string]transport.Body{
		"file":   {Source: NewSource(f, -1)},
		"parts":  {Source: NewSource(f, -1), Prefix: []byte("head"), Suffix: []byte("tail")},
		"reader": {Source: NewSource(struct{ io.Reader }{io.LimitReader(zeros{}, size)}, size)},
	} {
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if kind == "reader" {
					body.Source = NewSource(zeros{}, size)
				}
				r, err := h.Do(b.Context(), &transport.Request{Method: "POST", URL: s.URL, Body: body})
				require.NoError(b, err)
				r.Body.Close()
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

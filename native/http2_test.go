package native_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/native"
)

func caFile(t *testing.T, s *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	return file
}

func newHTTP2Server(t *testing.T, conns *atomic.Int32, handle http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(handle)
	s.EnableHTTP2 = true
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func TestHTTP2CarriesManyStreams(t *testing.T) {
	var conns atomic.Int32
	s := newHTTP2Server(t, &conns, func(w http.ResponseWriter, r *http.Request) {
		if !assertProto(w, r) {
			return
		}
		_, _ = io.WriteString(w, strings.Repeat(r.URL.Path, 10_000))
	})
	h := newHost(t, native.HostOptions{CAFile: caFile(t, s)})
	_, err := text(t.Context(), h, &transport.Request{Method: "GET", URL: s.URL}) // one connection to begin with
	require.NoError(t, err)
	err = h.Par(t.Context(), 50, 200, func(ctx context.Context, i int) error {
		path := fmt.Sprintf("/%04d", i)
		got, err := text(ctx, h, &transport.Request{Method: "GET", URL: s.URL + path})
		if err == nil && got != strings.Repeat(path, 10_000) {
			return fmt.Errorf("%s got something else", path)
		}
		return err
	})
	require.NoError(t, err)
	require.Less(t, conns.Load(), int32(10))
}

func assertProto(w http.ResponseWriter, r *http.Request) bool {
	if r.ProtoMajor != 2 {
		w.WriteHeader(http.StatusHTTPVersionNotSupported)
	}
	return r.ProtoMajor == 2
}

// text does a request and reads the body.
func text(ctx context.Context, h transport.Host, r *transport.Request) (string, error) {
	resp, err := h.Do(ctx, r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var all []byte
	for {
		b, err := resp.Body.Next(ctx)
		if err == io.EOF {
			return string(all), nil
		}
		if err != nil {
			return string(all), err
		}
		all = append(all, b...)
	}
}

func TestHTTP2AbortOfOneStreamSparesTheOthers(t *testing.T) {
	var conns atomic.Int32
	left := make(chan struct{})
	s := newHTTP2Server(t, &conns, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "head")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			close(left)
		}
	})
	h := newHost(t, native.HostOptions{CAFile: caFile(t, s)})
	r, err := h.Do(t.Context(), &transport.Request{Method: "GET", URL: s.URL + "/hang"})
	require.NoError(t, err)
	_, err = text(t.Context(), h, &transport.Request{Method: "GET", URL: s.URL})
	require.NoError(t, err)
	r.Body.Close()
	<-left
	_, err = text(t.Context(), h, &transport.Request{Method: "GET", URL: s.URL})
	require.NoError(t, err)
	require.EqualValues(t, 1, conns.Load())
}

// goingAway is an HTTP/2 peer whose first connection answers one request and the
// next one with GOAWAY.
type goingAway struct {
	cert  tls.Certificate
	conns atomic.Int32
	code  http2.ErrCode
	last  uint32 // highest stream that the GOAWAY says was processed
}

func (g *goingAway) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		n := g.conns.Add(1)
		go func() {
			defer c.Close()
			g.speak(c, n == 1)
		}()
	}
}

func (g *goingAway) speak(c net.Conn, leaving bool) {
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	_ = f.WriteSettings()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = f.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			if leaving && frame.StreamID > 1 {
				_ = f.WriteGoAway(g.last, g.code, nil)
				if frame.StreamID <= g.last {
					return // processed, and never answered
				}
				continue
			}
			answer(f, frame.StreamID)
		}
	}
}

func answer(f *http2.Framer, stream uint32) {
	var block strings.Builder
	_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "204"})
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(block.String()), EndHeaders: true, EndStream: true})
}

func TestGoAwayCostsNothingThatWasRefused(t *testing.T) {
	pattern := httptest.NewTLSServer(nil) // for its certificate
	defer pattern.Close()
	for name, b := range map[string]transport.Body{
		"no body":      {},
		"bytes":        {Bytes: []byte("payload")},
		"large bytes":  {Bytes: make([]byte, 1<<20)},
		"other method": {},
	} {
		t.Run(name, func(t *testing.T) {
			g := &goingAway{cert: pattern.TLS.Certificates[0], code: http2.ErrCodeEnhanceYourCalm, last: 1}
			l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{g.cert}, NextProtos: []string{"h2"}})
			require.NoError(t, err)
			defer l.Close()
			go g.serve(l)
			h := newHost(t, native.HostOptions{CAFile: caFile(t, pattern)})
			for range 3 {
				r, err := h.Do(t.Context(), &transport.Request{Method: "POST", URL: "https://" + l.Addr().String(), Body: b})
				require.NoError(t, err)
				require.Equal(t, 204, r.Status)
				r.Body.Close()
			}
			require.EqualValues(t, 2, g.conns.Load())
		})
	}
}

func TestGoAwayOfAProcessedStreamIsNotRepeated(t *testing.T) {
	pattern := httptest.NewTLSServer(nil)
	defer pattern.Close()
	g := &goingAway{cert: pattern.TLS.Certificates[0], code: http2.ErrCodeInternal, last: 3}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{g.cert}, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	defer l.Close()
	go g.serve(l)
	h := newHost(t, native.HostOptions{CAFile: caFile(t, pattern)})
	request := &transport.Request{Method: "POST", URL: "https://" + l.Addr().String(), Body: transport.Body{Bytes: []byte("x")}}
	_, err = text(t.Context(), h, request)
	require.NoError(t, err)
	_, err = h.Do(t.Context(), request)
	var e *transport.NetError
	require.ErrorAs(t, err, &e)
	require.False(t, e.NeverSent(), e.Error())
	require.Equal(t, transport.NetReset, e.Kind, e.Error())
	require.EqualValues(t, 1, g.conns.Load())
}

// A request that is to be alone ends its connection when its caller leaves: some
// peers take no notice of the reset of a stream.
func TestAloneIsAConnectionOfItsOwn(t *testing.T) {
	var conns atomic.Int32
	protos, gone := make(chan int, 2), make(chan struct{})
	s := newHTTP2Server(t, &conns, func(w http.ResponseWriter, r *http.Request) {
		protos <- r.ProtoMajor
		if r.URL.Path == "/alone" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(gone)
		}
	})
	h := newHost(t, native.HostOptions{CAFile: caFile(t, s)})
	_, err := text(t.Context(), h, &transport.Request{Method: "GET", URL: s.URL + "/shared"})
	require.NoError(t, err)
	require.Equal(t, 2, <-protos)
	resp, err := h.Do(t.Context(), &transport.Request{Method: "POST", URL: s.URL + "/alone", Alone: true})
	require.NoError(t, err)
	require.Equal(t, 1, <-protos)
	require.Equal(t, int32(2), conns.Load())
	resp.Body.Close()
	<-gone
}

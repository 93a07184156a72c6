package host_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/native"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
	"github.com/agent-sandbox/agent-sandbox/wasm/host"
)

// script is a core that answers each frame by a table.
type script struct {
	out   []byte
	react func(s *script, f frame.Frame) error
}

func (s *script) Run(in []byte) ([]byte, error) {
	s.out = s.out[:0]
	for len(in) > 0 {
		f, rest, err := frame.Next(in)
		if err != nil {
			return nil, err
		}
		in = rest
		if err := s.react(s, f); err != nil {
			return nil, err
		}
	}
	return s.out, nil
}

func (s *script) Close() error { return nil }

func (s *script) say(op, stream uint32, kind frame.Kind, payload string) {
	s.out = frame.Append(s.out, frame.Frame{Op: op, Stream: stream, Kind: kind, Payload: []byte(payload)})
}

// mixed says a payload of JSON and raw bytes.
func (s *script) mixed(op, stream uint32, kind frame.Kind, text, raw string) {
	s.say(op, stream, kind, string(frame.Mixed([]byte(text)))+raw)
}

func (s *script) end(op uint32, result string) {
	s.say(op, 0, frame.Result, result)
	s.say(op, 0, frame.Done, "")
}

func play(t *testing.T, react func(s *script, f frame.Frame) error) *host.Host {
	net, err := native.NewHost(native.HostOptions{Proxy: "direct", StoreDir: t.TempDir()})
	require.NoError(t, err)
	h := host.New(net, host.Options{Machine: func() (host.Machine, error) { return &script{react: react}, nil }})
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		require.NoError(t, h.Close())
		require.NoError(t, net.Close())
		goleak.VerifyNone(t, before, goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"), goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
	})
	return h
}

func get(url, more string) string {
	return fmt.Sprintf(`{"method":"GET","url":%q,"headers":[],"body":"none"%s}`, url, more)
}

func TestNothingIsReadWhileACallbackRuns(t *testing.T) {
	var sent atomic.Int64
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for piece := make([]byte, 64<<10); sent.Load() < 64<<20; sent.Add(int64(len(piece))) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	t.Cleanup(peer.Close)
	h := play(t, func(s *script, f frame.Frame) error {
		switch f.Kind {
		case frame.Call:
			s.mixed(f.Op, 1, frame.HTTPRequest, get(peer.URL, ""), "")
		case frame.HTTPChunk:
			s.say(f.Op, 0, frame.Stdout, string(f.Payload))
		case frame.HTTPEnd:
			s.end(f.Op, "null")
		}
		return nil
	})
	total, slow := 0, true
	_, err := h.Do(t.Context(), host.Call{Output: func(_ host.Stream, b []byte) {
		if slow {
			slow = false
			time.Sleep(300 * time.Millisecond)
			require.Less(t, sent.Load(), int64(32<<20), "the peer was read while the callback ran")
		}
		total += len(b)
	}})
	require.NoError(t, err)
	require.Equal(t, 64<<20, total)
}

func TestABulkBodyIsCutAndUnpackedForTheCaller(t *testing.T) {
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "0123456789") }))
	t.Cleanup(peer.Close)
	h := play(t, func(s *script, f frame.Frame) error {
		switch f.Kind {
		case frame.Call:
			s.mixed(f.Op, 1, frame.HTTPRequest, get(peer.URL, `,"bulk":true`), "")
		case frame.HTTPHead:
			s.say(f.Op, 1, frame.BodyToHost, `{"idle_ms":1000,"skip":2,"take":5}`)
		case frame.HTTPChunk:
			return errors.New("a chunk of a body that is the host's")
		case frame.HTTPEnd:
			s.end(f.Op, string(f.Payload))
		}
		return nil
	})
	var body bytes.Buffer
	result, err := h.Do(t.Context(), host.Call{Body: func(b []byte) error { body.Write(b); return nil }})
	require.NoError(t, err)
	require.Equal(t, "23456", body.String())
	require.JSONEq(t, `{"bytes":5}`, string(result))
}

func TestASourceGoesBetweenPrefixAndSuffix(t *testing.T) {
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	t.Cleanup(peer.Close)
	var got strings.Builder
	h := play(t, func(s *script, f frame.Frame) error {
		switch f.Kind {
		case frame.Call:
			s.mixed(f.Op, 1, frame.HTTPRequest, fmt.Sprintf(`{"method":"POST","url":%q,"headers":[],"body":"source","source":5,"prefix":1,"suffix":2}`, peer.URL), "<>>")
		case frame.HTTPChunk:
			got.Write(f.Payload)
		case frame.HTTPEnd:
			s.end(f.Op, "null")
		case frame.HTTPError:
			return errors.New(string(f.Payload))
		}
		return nil
	})
	_, err := h.Do(t.Context(), host.Call{Sources: map[uint32]transport.Source{5: native.NewSource(strings.NewReader("data"), -1)}})
	require.NoError(t, err)
	require.Equal(t, "<data>>", got.String())
}

func TestTheStoreAnswers(t *testing.T) {
	steps := []string{
		`{"verb":"get","name":"a"}`, `{"verb":"put","name":"a"}`, `{"verb":"get","name":"a"}`, `{"verb":"list"}`, `{"verb":"lock","name":"a"}`, `{"verb":"delete","name":"a"}`,
	}
	var said []string
	h := play(t, func(s *script, f frame.Frame) error {
		next := func() { s.mixed(f.Op, uint32(len(said)+1), frame.Store, steps[len(said)], "blob") }
		switch f.Kind {
		case frame.Call:
			next()
		case frame.StoreResult:
			text, blob, err := frame.Split(f.Payload)
			if err != nil {
				return err
			}
			said = append(said, string(text)+string(blob))
			if len(said) < len(steps) {
				next()
				return nil
			}
			s.mixed(f.Op, 5, frame.Store, `{"verb":"unlock"}`, "")
			s.end(f.Op, "null")
		}
		return nil
	})
	_, err := h.Do(t.Context(), host.Call{})
	require.NoError(t, err)
	require.Equal(t, []string{`{"error":"not_stored"}`, `{}`, `{}blob`, `{"names":["a"]}`, `{}`, `{}`}, said)
}

func TestASocketKeepsTextAndBinaryApart(t *testing.T) {
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"p"}})
		if err != nil {
			return
		}
		for {
			kind, b, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), kind, b) != nil {
				return
			}
		}
	}))
	t.Cleanup(peer.Close)
	var heard []string
	h := play(t, func(s *script, f frame.Frame) error {
		switch f.Kind {
		case frame.Call:
			s.say(f.Op, 1, frame.WSDial, fmt.Sprintf(`{"url":%q,"headers":[["x-a","b"]],"subprotocols":["p"],"max_message":100}`, strings.Replace(peer.URL, "http", "ws", 1)))
		case frame.WSOpen:
			s.say(f.Op, 1, frame.SendText, "text")
			s.say(f.Op, 1, frame.SendBinary, "\xff")
		case frame.WSText, frame.WSBinary:
			heard = append(heard, fmt.Sprintf("%d %q", f.Kind, f.Payload))
			if len(heard) == 2 {
				s.say(f.Op, 1, frame.WSClose, "")
				s.end(f.Op, "null")
			}
		case frame.WSClosed:
			return errors.New("closed: " + string(f.Payload))
		}
		return nil
	})
	_, err := h.Do(t.Context(), host.Call{})
	require.NoError(t, err)
	require.Equal(t, []string{`9 "text"`, `10 "\xff"`}, heard)
}

func TestInputIsGivenWhenItIsWanted(t *testing.T) {
	var got []string
	h := play(t, func(s *script, f frame.Frame) error {
		switch f.Kind {
		case frame.Call:
			s.say(f.Op, 0, frame.InputWanted, "")
		case frame.Input:
			got = append(got, string(f.Payload))
			s.say(f.Op, 0, frame.InputWanted, "")
		case frame.InputEnd:
			s.end(f.Op, "null")
		}
		return nil
	})
	pieces := []string{"a", "b"}
	_, err := h.Do(t.Context(), host.Call{Input: func(context.Context) ([]byte, error) {
		if len(pieces) == 0 {
			return nil, io.EOF
		}
		p := pieces[0]
		pieces = pieces[1:]
		return []byte(p), nil
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, got)
}

func TestATimerThatIsSetAgainStartsAnew(t *testing.T) {
	fired, began := 0, time.Time{}
	ms := func(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }
	h := play(t, func(s *script, f frame.Frame) error {
		switch f.Kind {
		case frame.Call:
			began = time.Now()
			s.say(f.Op, 1, frame.TimerSet, ms(1))
			s.say(f.Op, 1, frame.TimerSet, ms(50))
			s.say(f.Op, 2, frame.TimerSet, ms(1))
			s.say(f.Op, 2, frame.TimerClear, "")
		case frame.Timer:
			fired++
			s.end(f.Op, "null")
		}
		return nil
	})
	_, err := h.Do(t.Context(), host.Call{})
	require.NoError(t, err)
	require.Equal(t, 1, fired)
	require.GreaterOrEqual(t, time.Since(began), 50*time.Millisecond)
}

// waiting is a core whose calls end when they are cancelled, and say how.
func waiting(s *script, f frame.Frame) error {
	switch f.Kind {
	case frame.Call:
		s.say(f.Op, 0, frame.Event, `{"kind":"started","pid":7}`)
	case frame.Cancel:
		s.say(f.Op, 0, frame.Stdout, string(f.Payload))
		s.say(f.Op, 0, frame.Error, `{"code":"E5006","message":"x"}`)
		s.say(f.Op, 0, frame.Done, "")
	}
	return nil
}

func TestACancelSettlesTheCallerAtOnce(t *testing.T) {
	for reason, cause := range map[string]error{"cancel": context.Canceled, "detach": host.ErrDetach} {
		told := make(chan string, 1)
		h := play(t, func(s *script, f frame.Frame) error {
			if f.Kind == frame.Cancel {
				told <- string(f.Payload)
			}
			return waiting(s, f)
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := h.Do(ctx, host.Call{
			Event:  func(string, json.RawMessage) { cancel(cause) },
			Output: func(host.Stream, []byte) { t.Error("a callback after the cancel") },
		})
		var f *host.Failure
		require.ErrorAs(t, err, &f)
		require.ErrorIs(t, err, cause)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, "E5006", f.Code)
		require.EqualValues(t, 7, f.PID)
		require.JSONEq(t, `{"reason":"`+reason+`"}`, <-told)
	}
}

func TestABrokenMachineIsReplaced(t *testing.T) {
	for name, react := range map[string]func(*script, frame.Frame) error{
		"error": func(*script, frame.Frame) error { return errors.New("unreachable") },
		"cut":   func(s *script, _ frame.Frame) error { s.out = append(s.out, 1, 2, 3); return nil },
		"too long": func(s *script, _ frame.Frame) error {
			s.out = append(s.out, bytes.Repeat([]byte{0xff}, 32)...)
			return nil
		},
	} {
		broken := true
		h := play(t, func(s *script, f frame.Frame) error {
			if broken {
				broken = false
				return react(s, f)
			}
			s.end(f.Op, `"well"`)
			return nil
		})
		_, err := h.Do(t.Context(), host.Call{})
		var f *host.Failure
		require.ErrorAs(t, err, &f, name)
		require.Equal(t, "E9000", f.Code, name)
		result, err := h.Do(t.Context(), host.Call{})
		require.NoError(t, err, name)
		require.Equal(t, `"well"`, string(result), name)
	}
}

func TestCloseEndsEveryCall(t *testing.T) {
	h := play(t, waiting)
	began, ended := make(chan bool), make(chan error, 1)
	go func() {
		_, err := h.Do(context.Background(), host.Call{Event: func(string, json.RawMessage) { close(began) }})
		ended <- err
	}()
	<-began
	require.NoError(t, h.Close())
	require.ErrorContains(t, <-ended, "E5006")
	_, err := h.Do(t.Context(), host.Call{})
	require.ErrorIs(t, err, host.ErrClosed)
}

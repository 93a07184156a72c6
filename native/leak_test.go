package native_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// hang answers with a body that does not end.
func hang(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "first")
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func hanging(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(hang))
	t.Cleanup(s.Close)
	return s
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd here")
	}
	return len(list)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // the first one queues cleanups
	time.Sleep(10 * time.Millisecond)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestAbortedExchangesLeaveNothing(t *testing.T) {
	t.Run("HTTP/1.1", func(t *testing.T) {
		leaveNothing(t, hanging(t).URL, newHost(t, native.HostOptions{Proxy: "direct"}))
	})
	t.Run("HTTP/2", func(t *testing.T) {
		var conns atomic.Int32
		s := newHTTP2Server(t, &conns, hang)
		leaveNothing(t, s.URL, newHost(t, native.HostOptions{Proxy: "direct", CAFile: caFile(t, s)}))
		require.EqualValues(t, 1, conns.Load(), "an abort cost the connection")
	})
}

// leaveNothing aborts many requests of which a part was read.
func leaveNothing(t *testing.T, url string, h *native.Host) {
	ctx, cancel := context.WithCancel(t.Context()) // as long as the program
	defer cancel()
	abort := func(n int) {
		for i := range n {
			own, stop := context.WithCancel(ctx)
			r, err := h.Do(own, &transport.Request{Method: "GET", URL: url})
			require.NoError(t, err)
			_, err = r.Body.Next(own)
			require.NoError(t, err)
			if i%2 == 0 {
				stop()
				_, err = r.Body.Next(own)
				require.ErrorIs(t, err, context.Canceled)
			}
			r.Body.Close()
			stop()
		}
	}
	abort(100)
	before, fds, goroutines := heap(), descriptors(t), runtime.NumGoroutine()
	abort(1500)
	require.Eventually(t, func() bool {
		return descriptors(t) <= fds+5 && runtime.NumGoroutine() <= goroutines+10
	}, 5*time.Second, 20*time.Millisecond, "descriptors %d, goroutines %d", fds, goroutines)
	require.Less(t, heap(), before+4<<20)
}

func TestClocksLeaveNothingInALongLivedContext(t *testing.T) {
	h := newHost(t, native.HostOptions{Proxy: "direct"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	limit := func(n int) {
		for range n {
			limited, reset, disarm := h.Limit(ctx, transport.ClockIdle, time.Minute)
			reset()
			disarm()
			require.NoError(t, limited.Err())
		}
	}
	limit(1000)
	before := heap()
	limit(40_000)
	require.Less(t, heap(), before+5<<20)
}

func TestALimitedContextThatIsOnlyHeldByABodyStillEndsWithItsParent(t *testing.T) {
	s := hanging(t)
	h := newHost(t, native.HostOptions{Proxy: "direct"})
	parent, cancel := context.WithCancelCause(t.Context())
	stream := func() transport.Stream {
		limited, _, disarm := h.Limit(parent, transport.ClockRequest, time.Minute)
		defer disarm()
		r, err := h.Do(limited, &transport.Request{Method: "GET", URL: s.URL, Bulk: true})
		require.NoError(t, err)
		return r.Body.ToHost(0)
	}()
	defer stream.Close()
	heap()
	time.AfterFunc(20*time.Millisecond, func() { cancel(io.ErrNoProgress) })
	_, err := io.ReadAll(stream)
	require.Equal(t, io.ErrNoProgress, err)
}

func TestCloseEndsEveryWait(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	s := hanging(t)
	h, err := native.NewHost(native.HostOptions{Proxy: "direct", StoreDir: t.TempDir()})
	require.NoError(t, err)
	r, err := h.Do(t.Context(), &transport.Request{Method: "GET", URL: s.URL})
	require.NoError(t, err)
	time.AfterFunc(20*time.Millisecond, func() { _ = h.Close() })
	for err == nil {
		_, err = r.Body.Next(t.Context())
	}
	require.Equal(t, native.ErrClosed, err)
	require.NoError(t, h.Close())
	_, err = h.Do(t.Context(), &transport.Request{Method: "GET", URL: s.URL})
	require.Equal(t, native.ErrClosed, err)
	_, err = h.Dial(t.Context(), &transport.SocketRequest{URL: s.URL})
	require.Equal(t, native.ErrClosed, err)
	s.Close()
	goleak.VerifyNone(t, ignore)
}

func TestCloseWaitsForWhatCleansUpAfterCallersThatLeft(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer s.Close()
	h, err := native.NewHost(native.HostOptions{Proxy: "direct", StoreDir: t.TempDir()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	begun, may := make(chan struct{}), make(chan struct{})
	var cleaned error
	go func() {
		<-begun
		cancel()
	}()
	_, err = h.Flight(ctx, "key", func(flight context.Context) (any, error) {
		close(begun)
		<-flight.Done()
		<-may
		cleanup, disarm := h.Detached(flight, time.Minute)
		defer disarm()
		_, cleaned = h.Do(cleanup, &transport.Request{Method: "GET", URL: s.URL})
		return nil, nil
	})
	require.ErrorIs(t, err, context.Canceled)
	time.AfterFunc(20*time.Millisecond, func() { close(may) })
	require.NoError(t, h.Close())
	require.NoError(t, cleaned)
}

func FuzzStoreKeepsAnyName(f *testing.F) {
	for _, n := range []string{"a", "..", "a/../b", "\x00", "文件", "%2E", "a.json.lock"} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s := native.NewFileStore(t.TempDir())
		if s.Put(t.Context(), name, []byte(name)) != nil {
			return
		}
		got, err := s.Get(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, name, string(got))
		names, err := s.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{name}, names)
	})
}

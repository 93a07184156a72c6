package loop_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/native"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine/loop"
)

const total = 64 << 20

func newLoop(t *testing.T) (*loop.Loop, func()) {
	h, err := native.NewHost(native.HostOptions{StoreDir: t.TempDir(), Proxy: "direct"})
	require.NoError(t, err)
	l := loop.New(h)
	return l, func() {
		require.NoError(t, l.Close())
		require.NoError(t, h.Close())
	}
}

func TestAnUnreadStreamIsReadNoFurther(t *testing.T) {
	var sent atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for piece := make([]byte, 64<<10); sent.Load() < total; sent.Add(int64(len(piece))) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	l, end := newLoop(t)
	defer end()
	n, err := l.Run(t.Context(), func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, &transport.Request{Method: "GET", URL: s.URL})
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		if err := h.Sleep(ctx, 300*time.Millisecond); err != nil {
			return nil, err
		}
		ahead := sent.Load()
		if ahead > total/2 {
			t.Errorf("%d bytes were taken before one was read", ahead)
		}
		n := 0
		for {
			b, err := r.Body.Next(ctx)
			if err == io.EOF {
				return n, nil
			}
			if err != nil {
				return n, err
			}
			n += len(b)
		}
	})
	require.NoError(t, err)
	require.Equal(t, total, n)
}

func TestCloseCancelsAndWaits(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	l, end := newLoop(t)
	began, cleaned := make(chan struct{}), make(chan error, 1)
	result := make(chan error, 1)
	go func() {
		_, err := l.Run(context.Background(), func(ctx context.Context, h transport.Host) (any, error) {
			close(began)
			err := h.Sleep(ctx, time.Minute)
			detached, disarm := h.Detached(ctx, time.Second)
			defer disarm()
			cleaned <- h.Sleep(detached, 50*time.Millisecond)
			return nil, err
		})
		result <- err
	}()
	<-began
	end()
	require.Equal(t, loop.ErrClosed, <-result)
	require.NoError(t, <-cleaned, "cleaning up was cut short")
	_, err := l.Run(context.Background(), func(context.Context, transport.Host) (any, error) { return nil, nil })
	require.Equal(t, loop.ErrClosed, err)
	goleak.VerifyNone(t, ignore)
}

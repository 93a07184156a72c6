package native

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// stream is a body outside the core: an io.ReadCloser under the idle clock. One
// goroutine reads; any may close.
type stream struct {
	x    *exchange
	r    io.ReadCloser
	idle idleTimer

	mu  sync.Mutex
	err error
}

// Read reads the body; io.EOF ends a complete one.
func (s *stream) Read(p []byte) (int, error) {
	if err := s.ended(); err != nil {
		return 0, err
	}
	s.idle.start()
	n, err := s.r.Read(p)
	s.idle.stop()
	if err != nil {
		err = s.settle(s.x.bodyFailure(s.x.ctx, err))
	}
	return n, err
}

// WriteTo hands the body on in large pieces, whatever the size of the reader that
// io.Copy would choose.
func (s *stream) WriteTo(w io.Writer) (int64, error) {
	large := len(bufferSizes) - 1
	buf := s.x.host.buffers.get(large)
	defer s.x.host.buffers.put(large, buf)
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{s}, *buf)
}

// Close aborts what has not been read. It is idempotent.
func (s *stream) Close() error {
	_ = s.settle(errBodyClosed)
	return nil
}

func (s *stream) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// settle keeps the first end and releases the exchange with it.
func (s *stream) settle(err error) error {
	s.mu.Lock()
	first := s.err == nil
	if first {
		s.err = err
	}
	err = s.err
	s.mu.Unlock()
	if first {
		s.idle.stop()
		s.x.hangUp(s.r, err)
	}
	return err
}

// idleTimer runs only while somebody waits for bytes: a slow consumer is no
// silent peer.
type idleTimer struct {
	d     time.Duration
	timer *time.Timer
}

func newIdleTimer(d time.Duration, cancel context.CancelCauseFunc) idleTimer {
	if d <= 0 {
		return idleTimer{}
	}
	t := time.AfterFunc(d, func() { cancel(transport.Timeout{Clock: transport.ClockIdle, After: d}) })
	t.Stop()
	return idleTimer{d, t}
}

func (t idleTimer) start() {
	if t.timer != nil {
		t.timer.Reset(t.d)
	}
}

func (t idleTimer) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

package native

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// errBodyClosed is what reading a closed body gives.
var errBodyClosed = errors.New("the body was closed")

// responseBody reads the body in the goroutine of the caller: the end of his ctx
// cancels the exchange, which makes the read return.
type responseBody struct {
	x *exchange
	r io.ReadCloser

	bulk bool // no chunk was read, so that ToHost may have it whole
	buf  *[]byte
	size int   // index into bufferSizes
	full bool  // the last read filled buf
	err  error // what the next Next returns
	shut bool
}

// Next waits for the next chunk.
func (b *responseBody) Next(ctx context.Context) ([]byte, error) {
	if b.err != nil {
		b.close()
		return nil, b.err
	}
	if b.err = b.x.wait(ctx); b.err != nil {
		b.close()
		return nil, b.err
	}
	b.bulk = false
	b.grow()
	n, err := readSome(b.r, *b.buf)
	b.x.waiting.Store(false)
	b.full = n == len(*b.buf)
	if err != nil {
		b.err = b.x.bodyFailure(ctx, err)
	}
	if n > 0 {
		return (*b.buf)[:n], nil
	}
	b.close()
	return nil, b.err
}

// readSome reads until there is a byte or an error.
func readSome(r io.Reader, p []byte) (n int, err error) {
	for n == 0 && err == nil {
		n, err = r.Read(p)
	}
	return n, err
}

func (b *responseBody) grow() {
	if b.buf != nil && b.full && b.size+1 < len(bufferSizes) {
		b.dropBuffer()
		b.size++
	}
	if b.buf == nil {
		b.buf = b.x.host.buffers.get(b.size)
	}
}

func (b *responseBody) dropBuffer() {
	if b.buf != nil {
		b.x.host.buffers.put(b.size, b.buf)
		b.buf = nil
	}
}

// Close aborts what has not been read.
func (b *responseBody) Close() {
	if b.err == nil {
		b.err = errBodyClosed
	}
	b.close()
}

// close keeps the connection only when the body was read to its end.
func (b *responseBody) close() {
	if b.shut {
		return
	}
	b.shut = true
	b.dropBuffer()
	b.x.hangUp(b.r, b.err)
}

// hangUp ends an exchange whose head has come. It cancels before it closes:
// net/http would else read on in the hope of keeping the connection.
func (x *exchange) hangUp(r io.Closer, why error) {
	if !errors.Is(why, io.EOF) {
		x.cancel(errBodyClosed)
	}
	_ = r.Close()
	x.end(errBodyClosed)
}

// ToHost gives the rest to whoever called the operation. The stream ends with
// the ctx that was waited on last: the one of Do.
func (b *responseBody) ToHost(idle time.Duration) transport.Stream {
	if !b.bulk {
		b.err = transport.ErrNotBulk
	}
	s := &stream{x: b.x, r: b.r, err: b.err, idle: newIdleTimer(idle, b.x.cancel)}
	if s.err != nil {
		b.close()
		return s
	}
	b.err, b.shut = errBodyClosed, true // the stream is the owner now
	if s.x.lent != nil {
		if err := s.x.wait(s.x.lent); err != nil {
			_ = s.settle(err)
		}
	}
	return s
}

package daemon

import (
	"context"
	"net/http"
	"sync"
)

// bundleLimit is how many bytes of ready output go out with one write.
const bundleLimit = 128 << 10

// bundle gathers the messages of a stream while more are ready, so that a fast
// command costs one system call for several messages. Without hold it passes
// every message on at once.
type bundle struct {
	http.ResponseWriter
	flusher http.Flusher
	buffer  []byte
	hold    bool
	// last says that the stream ends now: its end goes out with what the server
	// writes after it, which spares each client two reads.
	last bool
	err  error
}

type bundleKey struct{}

// bundlePool recycles buffers between streams.
type bundlePool struct{ pool sync.Pool }

// bundled gives the handlers of streams a bundle to write to.
func bundled(next http.Handler) http.Handler {
	buffers := &bundlePool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		flusher, ok := w.(http.Flusher)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		b := &bundle{ResponseWriter: w, flusher: flusher}
		if old, ok := buffers.pool.Get().(*[]byte); ok {
			b.buffer = (*old)[:0]
		}
		next.ServeHTTP(b, r.WithContext(context.WithValue(r.Context(), bundleKey{}, b)))
		b.pass()
		if buffer := b.buffer; cap(buffer) > 0 {
			buffers.pool.Put(&buffer)
		}
	})
}

// bundleOf returns the bundle that answers the request of ctx; one that is tied
// to nothing when there is none.
func bundleOf(ctx context.Context) *bundle {
	if b, ok := ctx.Value(bundleKey{}).(*bundle); ok {
		return b
	}
	return &bundle{}
}

// Write implements http.ResponseWriter. An error shows at the next write.
func (b *bundle) Write(p []byte) (int, error) {
	if len(b.buffer) > 0 && len(b.buffer)+len(p) > bundleLimit {
		b.pass()
	}
	if b.err != nil {
		return 0, b.err
	}
	b.buffer = append(b.buffer, p...)
	return len(p), nil
}

// Flush implements http.Flusher.
func (b *bundle) Flush() {
	if (b.hold || b.last) && len(b.buffer) < bundleLimit {
		return
	}
	b.pass()
	b.flusher.Flush()
}

// Unwrap lets http.ResponseController reach the writer below.
func (b *bundle) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *bundle) pass() {
	if len(b.buffer) == 0 || b.err != nil {
		return
	}
	_, b.err = b.ResponseWriter.Write(b.buffer)
	b.buffer = b.buffer[:0]
}

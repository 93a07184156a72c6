package gateway

import "sync"

const (
	// smallBuffer serves streams, of which many may be open and silent.
	smallBuffer = 64 << 10
	// largeBuffer serves long bodies.
	largeBuffer = 256 << 10
	// longBody is the length from which a body is long.
	longBody = 1 << 20
)

// buffers is a pool of byte slices of one size.
type buffers struct {
	size int
	pool sync.Pool
}

func newBuffers(size int) *buffers { return &buffers{size: size} }

func (b *buffers) get() []byte {
	if held, ok := b.pool.Get().(*[]byte); ok {
		return *held
	}
	return make([]byte, b.size)
}

func (b *buffers) put(buf []byte) { b.pool.Put(&buf) }

// choice is the buffer pool of one exchange: small until its answer proves
// long.
type choice struct {
	small, large *buffers
	long         bool
}

// choose takes the length of an answer before its body is copied; -1 is unknown.
func (c *choice) choose(length int64) { c.long = length >= longBody }

// Get takes a buffer.
func (c *choice) Get() []byte {
	if c.long {
		return c.large.get()
	}
	return c.small.get()
}

// Put gives it back.
func (c *choice) Put(buf []byte) {
	if len(buf) == largeBuffer {
		c.large.put(buf)
		return
	}
	c.small.put(buf)
}

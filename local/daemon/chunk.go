package daemon

import (
	"sync"
	"sync/atomic"
)

// Sizes of one read in bytes, and so of one data event (e2b.md 3.4).
const (
	pipeChunk = 32 << 10
	ttyChunk  = 16 << 10
)

// stream names where a piece of output came from.
type stream uint8

const (
	streamStdout stream = iota
	streamStderr
	streamPTY
)

// chunk is a piece of output on its way to the subscribers, which share its
// bytes. The last to release it gives the memory back.
type chunk struct {
	from  stream
	data  []byte
	owner *chunkPool
	refs  atomic.Int32
}

func (c *chunk) release() {
	if c.refs.Add(-1) == 0 && c.owner != nil {
		c.owner.pool.Put(c)
	}
}

// chunkPool recycles the chunks of one command, so that a long output needs no
// more memory than its queue.
type chunkPool struct {
	size int
	pool sync.Pool
}

// take returns a chunk of full size with one reference.
func (p *chunkPool) take() *chunk {
	c, ok := p.pool.Get().(*chunk)
	if !ok {
		c = &chunk{data: make([]byte, p.size), owner: p}
	}
	c.data = c.data[:cap(c.data)]
	c.refs.Store(1)
	return c
}

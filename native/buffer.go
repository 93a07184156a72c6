package native

import "sync"

// Sizes of read buffers. A body starts with the first and moves up when it fills
// one, so that a thousand quiet streams stay small and a fast one costs few
// crossings.
var bufferSizes = [...]int{16 << 10, 64 << 10, 256 << 10}

// buffers are pools, one a size. The zero value is ready.
type buffers struct{ pools [len(bufferSizes)]sync.Pool }

func (b *buffers) get(size int) *[]byte {
	if p, ok := b.pools[size].Get().(*[]byte); ok {
		return p
	}
	p := make([]byte, bufferSizes[size])
	return &p
}

func (b *buffers) put(size int, p *[]byte) { b.pools[size].Put(p) }

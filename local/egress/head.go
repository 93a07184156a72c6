package egress

import (
	"errors"
	"io"
)

// maxHead bounds the head of one request or answer in bytes: the standard
// library's readers take any number of header lines into the server's memory.
const maxHead = 1 << 20

// errHead is returned for a head that is longer than maxHead.
var errHead = errors.New("the head of the message is too long")

// headReader reads without bound, but for heads.
type headReader struct {
	from io.Reader
	// head is set while a head is read; left is what it may still take.
	head bool
	left int
}

// begin starts a head; end ends it.
func (r *headReader) begin() { r.head, r.left = true, maxHead }
func (r *headReader) end()   { r.head = false }

func (r *headReader) Read(b []byte) (int, error) {
	if !r.head {
		return r.from.Read(b)
	}
	if r.left <= 0 {
		return 0, errHead
	}
	n, err := r.from.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}

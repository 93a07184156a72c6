package native

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// packer compresses what it reads.
type packer struct {
	src    io.Reader
	chunk  [32 << 10]byte
	packed bytes.Buffer
	z      *gzip.Writer
	err    error // what comes after packed
}

func newPacker(src io.Reader) *packer {
	p := &packer{src: src}
	p.z = gzip.NewWriter(&p.packed)
	return p
}

func (p *packer) Read(b []byte) (int, error) {
	for p.packed.Len() == 0 && p.err == nil {
		n, err := p.src.Read(p.chunk[:])
		if n > 0 {
			_, _ = p.z.Write(p.chunk[:n]) // into memory: cannot fail
		}
		if p.err = err; errors.Is(err, io.EOF) {
			_ = p.z.Close()
		}
	}
	if p.packed.Len() == 0 {
		return 0, p.err
	}
	return p.packed.Read(b)
}

//go:build !wasip1

package core

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// decompressed undoes the peer's compression of a whole body.
func decompressed(resp *transport.Response, b []byte) ([]byte, error) {
	if !isGzip(resp) || len(b) == 0 {
		return b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, badGzip(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		return nil, badGzip(err)
	}
	return plain, nil
}

// decompressing undoes it on a stream, from the first Read on.
func decompressing(resp *transport.Response, s io.ReadCloser) io.ReadCloser {
	if !isGzip(resp) {
		return s
	}
	return &gunzip{src: &noting{ReadCloser: s}}
}

type gunzip struct {
	src *noting
	z   *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.src)
		if err != nil {
			return 0, g.reason(err)
		}
		g.z = z
	}
	n, err := g.z.Read(p)
	return n, g.reason(err)
}

// reason tells a connection that failed from a body that is damaged. Nothing at
// all is an empty file.
func (g *gunzip) reason(err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case g.src.err != nil && !errors.Is(g.src.err, io.EOF):
		return g.src.err
	}
	return badGzip(err)
}

func (g *gunzip) Close() error { return g.src.Close() }

// noting remembers how its stream ended.
type noting struct {
	io.ReadCloser
	err error
}

func (r *noting) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil {
		r.err = err
	}
	return n, err
}

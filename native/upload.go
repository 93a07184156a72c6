package native

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// errForeignSource is a Source that NewSource did not make.
var errForeignSource = errors.New("the source of the body was not made by native.NewSource")

// upload is a request body that net/http pulls. It remembers how it failed,
// because net/http reports that as a broken connection.
type upload struct {
	r io.Reader

	mu  sync.Mutex
	err error
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		u.mu.Lock()
		u.err = err
		u.mu.Unlock()
	}
	return n, err
}

// Close leaves the reader to its owner.
func (u *upload) Close() error { return nil }

func (u *upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// setBody gives req its body; what it returns is nil for plain bytes. exchange
// ends with the exchange.
func setBody(exchange context.Context, req *http.Request, b transport.Body) *upload {
	switch {
	case b.Next != nil:
		req.ContentLength = -1
		return setUpload(req, &pieceReader{ctx: exchange, next: b.Next})
	case b.Source != nil:
		r, size := sourceBody(b)
		if b.Gzip {
			r, size = newPacker(r), -1
		}
		req.ContentLength = size
		return setUpload(req, r)
	case b.Gzip:
		req.ContentLength = -1
		return setUpload(req, newPacker(bytes.NewReader(b.Bytes)))
	case len(b.Bytes) > 0:
		req.ContentLength = int64(len(b.Bytes))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes)), nil }
		req.Body, _ = req.GetBody()
	}
	return nil
}

func setUpload(req *http.Request, r io.Reader) *upload {
	if req.ContentLength == 0 { // with a body net/http takes that for unknown
		req.Body = http.NoBody
		return nil
	}
	u := &upload{r: r}
	req.Body = u
	return u
}

// sourceBody is prefix, source and suffix; size is -1 when unknown.
func sourceBody(b transport.Body) (r io.Reader, size int64) {
	s, ok := b.Source.(*source)
	if !ok {
		return failing{errForeignSource}, -1
	}
	data, err := s.open()
	if err != nil {
		return failing{err}, -1
	}
	if n, known := s.Size(); known {
		size = n + int64(len(b.Prefix)+len(b.Suffix))
	} else {
		size = -1
	}
	if len(b.Prefix)+len(b.Suffix) == 0 {
		return data, size
	}
	return io.MultiReader(bytes.NewReader(b.Prefix), data, bytes.NewReader(b.Suffix)), size
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// pieceReader reads a body that the core makes piece by piece. net/http flushes what
// one Read gave before it reads again.
type pieceReader struct {
	ctx  context.Context
	next func(context.Context) ([]byte, error)
	rest []byte
}

func (p *pieceReader) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		piece, err := contain(func() (any, error) { return p.next(p.ctx) })
		if errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		p.rest, _ = piece.([]byte)
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

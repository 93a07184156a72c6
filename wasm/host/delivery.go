package host

import (
	"compress/gzip"
	"errors"
	"io"
)

// deliverySize is how much of a body is read at a time.
const deliverySize = 256 << 10

// deliver gives a body to the caller and counts its bytes.
func (x *exchange) deliver(s io.ReadCloser, d *deliveryJSON) (n int64, err error) {
	defer func() { _ = s.Close() }()
	var r io.Reader = s
	if d.Gzip {
		r = &gunzip{src: &noting{Reader: s}}
	}
	if d.Skip > 0 {
		if _, err := io.CopyN(io.Discard, r, d.Skip); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
	}
	if d.Take > 0 {
		r = io.LimitReader(r, d.Take)
	}
	for x.h.await(x.k) {
		b := make([]byte, deliverySize)
		got, err := r.Read(b)
		n += int64(got)
		x.hand(b[:got])
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, errUnwanted
}

func (x *exchange) hand(b []byte) {
	if len(b) == 0 {
		return
	}
	x.h.mu.Lock()
	defer x.h.mu.Unlock()
	if x.h.streams[x.k] == stream(x) {
		x.o.push(bodyPiece, b)
	}
}

// damagedError is a compressed body that is none.
type damagedError struct{ err error }

func (e *damagedError) Error() string { return "the compressed body is damaged: " + e.err.Error() }

// gunzip undoes gzip. Nothing at all is an empty body.
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

// reason tells a connection that failed from a body that is damaged.
func (g *gunzip) reason(err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case g.src.err != nil && !errors.Is(g.src.err, io.EOF):
		return g.src.err
	}
	return &damagedError{err}
}

// noting remembers how its reader ended.
type noting struct {
	io.Reader
	err error
}

func (r *noting) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.err = err
	}
	return n, err
}

package core

import (
	"context"
	"errors"
	"io"
)

// explained gives stream errors the one error type.
func (f *Files) explained(ctx context.Context, s io.ReadCloser) io.ReadCloser {
	return &explainer{f, ctx, s}
}

type explainer struct {
	files *Files
	ctx   context.Context
	io.ReadCloser
}

func (e *explainer) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = e.files.cut(e.ctx, err)
	}
	return n, err
}

// WriteTo lets bulk copies pass without another buffer where the host can.
func (e *explainer) WriteTo(w io.Writer) (int64, error) {
	n, err := io.Copy(w, e.ReadCloser)
	if err != nil {
		err = e.files.cut(e.ctx, err)
	}
	return n, err
}

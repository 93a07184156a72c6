package core

import (
	"context"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
)

// explained gives stream errors the one error type.
func explained(ctx context.Context, s io.ReadCloser) io.ReadCloser { return &explainer{ctx, s} }

type explainer struct {
	ctx context.Context
	io.ReadCloser
}

func (e *explainer) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = cancelled(e.ctx, connect.Classify(e.ctx, err, transferArea))
	}
	return n, err
}

// WriteTo lets bulk copies pass without another buffer where the host can.
func (e *explainer) WriteTo(w io.Writer) (int64, error) {
	n, err := io.Copy(w, e.ReadCloser)
	if err != nil {
		err = cancelled(e.ctx, connect.Classify(e.ctx, err, transferArea))
	}
	return n, err
}

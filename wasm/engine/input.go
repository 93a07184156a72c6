package engine

import (
	"bytes"
	"context"
	"io"
)

// input is what the caller sends while its operation runs.
type input struct {
	reader *task
	asked  bool // a piece was asked for and has not come
	pieces [][]byte
	err    error // how it ended; io.EOF when complete
}

// Input asks the caller for a piece and waits for it.
func (h *host) Input(ctx context.Context) ([]byte, error) {
	in := &h.o.input
	if len(in.pieces) == 0 && in.err == nil && !in.asked && ctx.Err() == nil {
		in.asked = true
		h.e.emit(Out{Op: h.o.id, Kind: InputWanted})
	}
	if err := h.until(ctx, &in.reader, func() bool { return len(in.pieces) > 0 || in.err != nil }); err != nil {
		return nil, err
	}
	if len(in.pieces) == 0 {
		return nil, in.err
	}
	piece := in.pieces[0]
	in.pieces = in.pieces[1:]
	return piece, nil
}

func (o *operation) inputEvent(v Event) {
	in := &o.input
	switch {
	case in.err != nil:
		return
	case v.Kind == Input:
		in.asked = false
		in.pieces = append(in.pieces, bytes.Clone(v.Data))
	case v.Err != nil:
		in.err = v.Err
	default:
		in.err = io.EOF
	}
	o.e.ready(in.reader)
}

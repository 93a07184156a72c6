package daemon

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"
)

var (
	errNoStdin  = errors.New("stdin not enabled or closed")
	errNoTTY    = errors.New("tty not assigned to process")
	errTTYStdin = errors.New("tty assigned to process: its input cannot be closed")
)

// input is what a command reads: its stdin, or its terminal. The zero value has
// neither.
type input struct {
	file   *os.File
	tty    bool
	closed atomic.Bool
	// turn holds a token while somebody writes, so that inputs do not mix.
	turn chan struct{}
}

func newInput(file *os.File, tty bool) *input {
	return &input{file: file, tty: tty, turn: make(chan struct{}, 1)}
}

// write passes p on whole, waiting as long as the command does not read and ctx
// allows.
func (in *input) write(ctx context.Context, p []byte) error {
	if in.file == nil || in.closed.Load() {
		return errNoStdin
	}
	select {
	case in.turn <- struct{}{}:
		defer func() { <-in.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = in.file.SetWriteDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	_, err := in.file.Write(p)
	if !stop() {
		<-interrupted
		_ = in.file.SetWriteDeadline(time.Time{})
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ctx.Err()
	case errors.Is(err, os.ErrClosed):
		return errNoStdin
	}
	return err
}

// closeStdin ends the command's stdin; without one, or a second time, it does
// nothing. A terminal cannot be closed.
func (in *input) closeStdin() error {
	if in.tty {
		return errTTYStdin
	}
	in.close()
	return nil
}

// close ends the input. A terminal is closed by its reader.
func (in *input) close() {
	if in.file != nil && !in.closed.Swap(true) && !in.tty {
		_ = in.file.Close()
	}
}

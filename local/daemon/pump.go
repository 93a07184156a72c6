package daemon

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// outputSilence is how long a child that outlives its command must be silent
// before the command counts as ended although its output is still open.
const outputSilence = 100 * time.Millisecond

// pump passes one output on until its end. It returns true when the output is
// still open: somebody other than the command holds it.
func (c *command) pump(s *source) (held bool) {
	for {
		if c.hasExited() {
			_ = s.file.SetReadDeadline(time.Now().Add(c.silence))
		}
		piece := c.chunks.take()
		n, err := s.file.Read(piece.data)
		timedOut := errors.Is(err, os.ErrDeadlineExceeded)
		if timedOut {
			// The clock may have run out before the read was tried: what was
			// written before the exit must not be lost to a busy machine.
			n, err = readNow(s.file, piece.data)
		}
		if n > 0 {
			piece.data, piece.from = piece.data[:n], s.from
			c.emit(piece)
			continue
		}
		piece.release()
		if !timedOut || !errors.Is(err, unix.EAGAIN) {
			return false
		}
		if c.isCutOff() || c.isSilent() {
			return true
		}
	}
}

// emit publishes a piece and keeps the clock of the last output.
func (c *command) emit(piece *chunk) {
	c.emitting.Add(1)
	c.output.publish(piece)
	c.lastOutput.Store(int64(time.Since(c.begun)))
	c.emitting.Add(-1)
}

// isSilent tells whether no output has come through any descriptor for a while.
func (c *command) isSilent() bool {
	quiet := time.Since(c.begun) - time.Duration(c.lastOutput.Load())
	return c.emitting.Load() == 0 && quiet >= c.silence
}

// readNow reads what is there, without waiting and whatever the deadline.
func readNow(f *os.File, p []byte) (n int, err error) {
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		return 0, err
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	waitErr := raw.Read(func(fd uintptr) bool {
		for {
			n, err = unix.Read(int(fd), p)
			if !errors.Is(err, unix.EINTR) {
				return true
			}
		}
	})
	if waitErr != nil {
		return 0, waitErr
	}
	return max(n, 0), err
}

// drain reads and drops what a surviving child writes: closing the output would
// kill a server that logs to it.
func drain(f *os.File) {
	_ = f.SetReadDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{f})
	_ = f.Close()
}

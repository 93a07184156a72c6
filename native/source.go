package native

import (
	"io"
	"os"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// source is an io.Reader that the core passes on without reading it.
type source struct {
	r     io.Reader
	seek  io.Seeker // nil when the data can be read once only
	start int64
	size  int64
}

// NewSource names r as bulk data for a request body. size is in bytes; below
// zero it is unknown, unless r can tell (regular files, readers over memory). A
// source that can seek is sent again from where it stands now. r is never closed.
func NewSource(r io.Reader, size int64) transport.Source {
	s := &source{r: r, size: size}
	seeker, ok := r.(io.Seeker)
	if !ok || !seekable(r) {
		return s
	}
	start, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return s
	}
	s.seek, s.start = seeker, start
	if size < 0 {
		s.size = rest(seeker, start)
	}
	return s
}

// seekable tells devices from files: a seek on a device succeeds and means nothing.
func seekable(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return true
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

func rest(s io.Seeker, start int64) int64 {
	end, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return -1
	}
	if _, err := s.Seek(start, io.SeekStart); err != nil {
		return -1
	}
	return end - start
}

// Size in bytes, when known.
func (s *source) Size() (int64, bool) { return max(s.size, 0), s.size >= 0 }

// Replayable tells whether the source can be sent again.
func (s *source) Replayable() bool { return s.seek != nil }

// open is the data from its start.
func (s *source) open() (io.Reader, error) {
	if s.seek != nil {
		if _, err := s.seek.Seek(s.start, io.SeekStart); err != nil {
			return nil, err
		}
	}
	if s.size >= 0 {
		return io.LimitReader(s.r, s.size), nil
	}
	return s.r, nil
}

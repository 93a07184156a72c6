package daemon

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// saveBuffer is how many bytes of an upload are moved at a time.
const saveBuffer = 256 << 10

// saving writes one file.
type saving struct {
	path     string
	owner    owner
	metadata map[string]string
	// size is the expected length in bytes, -1 when unknown.
	size    int64
	buffers *bufferPool
}

// from makes the file and its parents, with content in it.
func (s *saving) from(content io.Reader) *refusal {
	if err := makeDirs(filepath.Dir(s.path), s.owner); err != nil {
		if isMissing(err) {
			return badRequest(fmt.Errorf("error ensuring directories of '%s': %w", s.path, err))
		}
		return s.fault(err)
	}
	if fault := refuseTarget(s.path); fault != nil {
		return fault
	}
	file, created, err := openForWrite(s.path)
	if err != nil {
		return s.fault(err)
	}
	err = s.fill(file, content)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		if created {
			// A new file that is not whole is nobody's; an old one is left cut.
			_ = os.Remove(s.path)
		}
		return s.fault(err)
	}
	return nil
}

// refuseTarget refuses what cannot be overwritten. Opening a named pipe would wait
// for its reader.
func refuseTarget(path string) *refusal {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case info.IsDir():
		return badRequest(fmt.Errorf("path is a directory: %s", path))
	case info.Mode()&fs.ModeNamedPipe != 0:
		return badRequest(fmt.Errorf("path is a named pipe: %s", path))
	}
	return nil
}

// openForWrite empties an existing file or makes a new one.
func openForWrite(path string) (file *os.File, created bool, err error) {
	file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		return file, true, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, false, err
	}
	file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	return file, false, err
}

func (s *saving) fill(file *os.File, content io.Reader) error {
	if s.owner.uid >= 0 || s.owner.gid >= 0 {
		if err := file.Chown(s.owner.uid, s.owner.gid); err != nil {
			return err
		}
	}
	if err := writeMetadata(int(file.Fd()), s.path, s.metadata); err != nil {
		return err
	}
	if s.size > 0 && s.size > freeBytes(file) {
		return syscall.ENOSPC
	}
	buffer := s.buffers.take()
	defer s.buffers.give(buffer)
	// Hidden from io.Copy, which would use a small buffer of its own otherwise.
	_, err := io.CopyBuffer(struct{ io.Writer }{file}, struct{ io.Reader }{content}, *buffer)
	return err
}

// freeBytes is what an ordinary user can still write; unknown is unlimited.
func freeBytes(file *os.File) int64 {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &st); err != nil || st.Blocks == 0 {
		return 1<<63 - 1
	}
	return int64(st.Bavail) * st.Bsize
}

// fault answers for an error of the file system or of the request's body.
func (s *saving) fault(err error) *refusal {
	var syntax flate.CorruptInputError
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &refusal{http.StatusInsufficientStorage, "not enough disk space available"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{http.StatusRequestTimeout, fmt.Sprintf("nothing came for %s", uploadIdle)}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &syntax),
		errors.Is(err, io.ErrUnexpectedEOF):
		return badRequest(fmt.Errorf("error reading the body: %w", err))
	}
	return &refusal{writeStatus(err), fmt.Sprintf("error writing '%s': %v", s.path, err)}
}

func writeStatus(err error) int {
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EINVAL):
		return http.StatusBadRequest
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

func readStatus(err error) int { return writeStatus(err) }

// bufferPool recycles the buffers of uploads.
type bufferPool struct{ pool sync.Pool }

func (p *bufferPool) take() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, saveBuffer)
	return &b
}

func (p *bufferPool) give(b *[]byte) { p.pool.Put(b) }

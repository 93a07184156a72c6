package native

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

const (
	storeSuffix = ".json"
	lockSuffix  = ".lock"
	// maxStoredName keeps file names below the 255 bytes of common file systems.
	maxStoredName = 200
)

// FileStore keeps blobs as files of one directory (0700), each 0600 and replaced
// as a whole. It serves several processes at once.
type FileStore struct{ dir string }

// NewFileStore names the directory; it is made by the first Put or Lock.
func NewFileStore(dir string) *FileStore { return &FileStore{dir} }

// StateDir is the directory for state of this program: agent-sandbox in
// $XDG_STATE_HOME, else in ~/.local/state (XDG base directory specification).
func StateDir(getenv func(string) string) string {
	base := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // the specification says to ignore relative ones
		base = filepath.Join(getenv("HOME"), ".local", "state")
	}
	return filepath.Join(base, "agent-sandbox")
}

func (o HostOptions) sessionsDir() string {
	if o.StoreDir != "" {
		return o.StoreDir
	}
	return filepath.Join(StateDir(o.Getenv), "sessions")
}

// Get reads a blob.
func (s *FileStore) Get(_ context.Context, name string) ([]byte, error) {
	path, err := s.path(name, storeSuffix)
	if err != nil {
		return nil, err
	}
	blob, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, transport.ErrNotStored
	}
	return blob, err
}

// Put writes or replaces a blob.
func (s *FileStore) Put(_ context.Context, name string, blob []byte) error {
	path, err := s.path(name, storeSuffix)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return writeAtomically(path, blob)
}

// Delete removes a blob.
func (s *FileStore) Delete(_ context.Context, name string) error {
	path, err := s.path(name, storeSuffix)
	if err != nil {
		return err
	}
	err = os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return transport.ErrNotStored
	}
	return err
}

// List gives the names, sorted.
func (s *FileStore) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		file, ok := strings.CutSuffix(e.Name(), storeSuffix)
		if name, err := url.PathUnescape(file); ok && err == nil && !strings.HasPrefix(file, ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Lock holds name for this caller alone, among all processes, until unlock.
func (s *FileStore) Lock(ctx context.Context, name string) (unlock func(), err error) {
	path, err := s.path(name, lockSuffix)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	return lockFile(ctx, path)
}

// path is the file of a name. Escaping keeps separators out of it; a leading dot
// is escaped too, for temporary files begin with one.
func (s *FileStore) path(name, suffix string) (string, error) {
	file := url.PathEscape(name)
	if strings.HasPrefix(file, ".") {
		file = "%2E" + file[1:]
	}
	if name == "" || len(file) > maxStoredName {
		return "", fault.InvalidArgument("a session name needs 1 to %d characters", maxStoredName)
	}
	return filepath.Join(s.dir, file+suffix), nil
}

// writeAtomically replaces a file so that a reader sees the old or the new one,
// also after a crash. Nobody else can read it.
func writeAtomically(path string, blob []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(blob)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

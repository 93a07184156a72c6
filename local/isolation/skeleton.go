//go:build linux

package isolation

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// skeleton is the lower layer of every sandbox's root: the directories of a
// Linux system, links into /usr, and an /etc without the host's secrets. It is
// made once and found again by later engines as long as its sources are the
// same.
type skeleton struct {
	base string
	mode Mode

	mu   sync.Mutex
	path string
	lock *os.File
}

func openSkeleton(base string, mode Mode) (*skeleton, error) {
	return &skeleton{base: base, mode: mode}, os.MkdirAll(base, 0o700)
}

// dir gives the directory, after making it if need be.
func (s *skeleton) dir() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path != "" {
		return s.path, nil
	}
	key := s.key()
	path := filepath.Join(s.base, key)
	lock, err := sharedLock(path + ".lock")
	if err != nil {
		return "", err
	}
	if !isDir(path) {
		if err := s.make(path); err != nil {
			_ = lock.Close()
			return "", fmt.Errorf("skeleton: %w", err)
		}
		s.sweep(key)
	}
	s.path, s.lock = path, lock
	return path, nil
}

func (s *skeleton) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// skeletonVersion changes when what is made below changes.
const skeletonVersion = "5"

// key names the state of everything that a skeleton is made of.
func (s *skeleton) key() string {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, skeletonVersion, s.mode, hostCAFiles())
	sources := append([]string{"/etc", "/usr/lib", "/etc/apt/sources.list.d", "/etc/apt/apt.conf.d", "/etc/ssl/certs"}, copied...)
	sources = append(sources, hostCAFiles()...)
	sort.Strings(sources)
	for _, p := range sources {
		if fi, err := os.Stat(p); err == nil {
			_, _ = fmt.Fprintln(h, p, fi.ModTime().UnixNano(), fi.Size())
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (s *skeleton) make(path string) error {
	tmp, err := os.MkdirTemp(s.base, "new-")
	if err != nil {
		return err
	}
	defer removeTree(tmp) //nolint:errcheck // gone after the rename
	b := &builder{root: tmp, owner: s.mode == Root}
	b.build()
	if b.err != nil {
		return b.err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	err = os.Rename(tmp, path)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENOTEMPTY) {
		return nil
	}
	return err
}

// sweep removes skeletons that no engine uses.
func (s *skeleton) sweep(keep string) {
	entries, err := os.ReadDir(s.base)
	if err != nil {
		return
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".lock")
		if !ok || name == keep {
			continue
		}
		path := filepath.Join(s.base, name)
		lock, err := lockFile(path + ".lock")
		if err != nil {
			continue
		}
		_ = removeTree(path)
		_ = os.Remove(path + ".lock")
		_ = lock.Close()
	}
}

func sharedLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

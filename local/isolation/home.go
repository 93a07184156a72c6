//go:build linux

package isolation

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// home is one engine's directory below StateDir. A lock, held as long as the
// process lives, tells it from what a crashed engine left.
type home struct {
	path, name string
	lock       *os.File
}

// homePrefix begins the name of every home, and so of every control group.
const homePrefix = "sandboxc-"

func makeHome(stateDir string) (*home, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, err
	}
	for {
		h, err := tryHome(stateDir)
		if !errors.Is(err, errLocked) {
			return h, err
		}
		// Another engine was sweeping and took the new lock for a dead one's.
	}
}

func tryHome(stateDir string) (*home, error) {
	var r [6]byte
	_, _ = rand.Read(r[:])
	h := &home{name: homePrefix + hex.EncodeToString(r[:])}
	h.path = filepath.Join(stateDir, h.name)
	// The lock exists before the directory: a half-made home is never swept.
	lock, err := lockFile(h.path + ".lock")
	if err != nil {
		return nil, err
	}
	if !isAt(lock, h.path+".lock") {
		_ = lock.Close()
		return nil, errLocked
	}
	h.lock = lock
	return h, os.Mkdir(h.path, 0o700)
}

// isAt tells whether a locked file is still the one at its path: a lock on a
// removed file excludes nobody.
func isAt(f *os.File, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}

// errLocked is returned by lockFile when another process holds the lock.
var errLocked = errors.New("locked by a living process")

func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

// dir makes a directory for one sandbox.
func (h *home) dir(name string) (string, error) {
	dir := filepath.Join(h.path, name)
	return dir, os.Mkdir(dir, 0o700)
}

func (h *home) remove() error {
	err := removeTree(h.path)
	_ = os.Remove(h.path + ".lock")
	_ = h.lock.Close()
	return err
}

// removeLeftovers deletes homes and control groups of engines that are gone.
func removeLeftovers(stateDir string) error {
	entries, err := os.ReadDir(stateDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var errs []error
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".lock")
		if !ok || !strings.HasPrefix(name, homePrefix) {
			continue
		}
		lock, err := lockFile(filepath.Join(stateDir, e.Name()))
		if err != nil {
			continue
		}
		dead := &home{path: filepath.Join(stateDir, name), name: name, lock: lock}
		killFrozen(dead.path)
		groups := findControlGroups(name)
		groups.endAll()
		errs = append(errs, groups.close(), dead.remove())
	}
	return errors.Join(errs...)
}

// removeTree deletes a directory even where overlayfs left directories that
// their owner may not enter.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
			if err != nil {
				return nil
			}
		}
		return nil
	})
	return os.RemoveAll(dir)
}

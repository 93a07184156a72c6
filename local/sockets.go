//go:build linux

package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxSocketPath is the longest name that a unix socket can have.
const maxSocketPath = 107

const socketsPrefix = "net-"

// sockets is the directory of the relays' sockets of one server. Servers may
// share a state directory: each has its own, locked as long as it lives, and
// removes those whose server is gone.
type sockets struct {
	dir  string
	lock *os.File
}

// openSockets makes the directory, and removes what crashed servers left.
func openSockets(stateDir string) (*sockets, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, err
	}
	if err := sweepSockets(stateDir); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		dir, err := os.MkdirTemp(stateDir, socketsPrefix)
		if err != nil {
			return nil, err
		}
		// Another server may be sweeping and take the new directory for a dead
		// one's.
		lock, err := lockDir(dir)
		if err == nil && isDir(dir) {
			return &sockets{dir: dir, lock: lock}, nil
		}
		if err == nil {
			_ = lock.Close()
		} else if try == sweepTries {
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
	}
}

// sweepTries is how often a new directory may fall to a sweep.
const sweepTries = 100

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// path is the socket of one sandbox.
func (k *sockets) path(id string) string { return filepath.Join(k.dir, id) }

// address is a name of the same socket that is short enough to listen on,
// however deep the directory lies. It is valid in this process only.
func (k *sockets) address(id string) string {
	if path := k.path(id); len(path) <= maxSocketPath {
		return path
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", k.lock.Fd(), id)
}

// close removes the directory.
func (k *sockets) close() error {
	err := os.RemoveAll(k.dir)
	_ = k.lock.Close()
	return err
}

// sweepSockets removes the directories that nobody has locked.
func sweepSockets(stateDir string) error {
	entries, err := os.ReadDir(stateDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), socketsPrefix) {
			continue
		}
		dir := filepath.Join(stateDir, e.Name())
		lock, err := lockDir(dir)
		if err != nil {
			// Its server lives.
			continue
		}
		err = os.RemoveAll(dir)
		_ = lock.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// lockDir locks a directory, which ends with its file or its process.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

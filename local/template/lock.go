//go:build linux

package template

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// errHeld is returned by tryLock when somebody else holds the lock.
var errHeld = errors.New("somebody else holds the lock")

// tryLock takes a lock file, shared or alone. The lock ends with its file, or
// with the process that holds it.
func tryLock(path string, how int) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != nil {
			_ = f.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, errHeld
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if isAt(f, path) {
			return f, nil
		}
		// It was removed in between: a lock on it excludes nobody.
		_ = f.Close()
	}
}

func isAt(f *os.File, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}

// lockPause is the wait between two tries for a lock.
const lockPause = 50 * time.Millisecond

// lock waits for a lock; waiting is called once when it has to.
func lock(ctx context.Context, path string, how int, waiting func()) (*os.File, error) {
	for first := true; ; first = false {
		f, err := tryLock(path, how)
		if !errors.Is(err, errHeld) {
			return f, err
		}
		if first && waiting != nil {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
}

//go:build unix

package native

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockPoll is how often a held lock is tried again: flock cannot wait with a ctx.
const lockPoll = 20 * time.Millisecond

// lockFile takes an exclusive flock on path, which it makes when needed. The
// system drops it when the process dies.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	for {
		f, err := tryLock(path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			return func() {
				_ = os.Remove(path) // before the lock is given up: see current
				_ = f.Close()
			}, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockPoll):
		}
	}
}

// tryLock gives nil when somebody else holds the lock.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil && current(f, path) {
		return f, nil
	}
	_ = f.Close()
	if err == nil || errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	return nil, err
}

// current tells whether f is still the file at path: a holder removes it when he
// unlocks, and a lock on a removed file excludes nobody.
func current(f *os.File, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}

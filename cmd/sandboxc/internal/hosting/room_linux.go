package hosting

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/native"
)

// room is the directory of one running server. It lies in the directory for
// temporary files, because the sockets in it need short paths; what sandboxes
// write lies in the state directory, behind the link "boxes".
type room struct {
	dir  string
	lock *os.File
}

const (
	boxesName = "boxes"
	lockName  = "lock"
	// unlockedAge is how old a room without a lock must be to count as left
	// behind: a younger one may be in the making.
	unlockedAge = time.Minute
)

func roomPattern() string { return fmt.Sprintf("sandboxc-%d-", os.Getuid()) }

// openRoom makes a room and removes those of servers that are gone.
func openRoom(getenv func(string) string) (*room, error) {
	sweepRooms()
	boxes := filepath.Join(native.StateDir(getenv), boxesName)
	if err := os.MkdirAll(boxes, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", roomPattern()+"*") // 0700
	if err != nil {
		return nil, err
	}
	r := &room{dir: dir}
	if r.lock, err = lock(filepath.Join(dir, lockName), os.O_CREATE); err == nil {
		err = os.Symlink(boxes, filepath.Join(dir, boxesName))
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func lock(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flag|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (r *room) close() error {
	err := os.RemoveAll(r.dir)
	if r.lock != nil {
		_ = r.lock.Close()
	}
	return err
}

// sweepRooms removes what servers that were killed left behind. It is best
// effort: a room that stays is no harm.
func sweepRooms() {
	rooms, _ := filepath.Glob(filepath.Join(os.TempDir(), roomPattern()+"*"))
	for _, dir := range rooms {
		if !abandoned(dir) {
			continue
		}
		_ = os.RemoveAll(dir)
	}
}

func abandoned(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !mine(info) {
		return false
	}
	held, err := lock(filepath.Join(dir, lockName), 0)
	if errors.Is(err, os.ErrNotExist) {
		return time.Since(info.ModTime()) > unlockedAge
	}
	if err != nil {
		return false
	}
	_ = held.Close()
	return true
}

// mine tells whether a file is of this user.
func mine(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

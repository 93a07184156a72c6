package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// newDirMode is the mode of directories that the daemon makes (e2b.md 3.2).
const newDirMode = 0o755

// owner is whom new files are given to; negative ids leave them as made.
type owner struct{ uid, gid int }

func (d *Daemon) ownerFor(u User) owner {
	uid, gid := d.users.OwnerOf(u)
	return owner{uid, gid}
}

func (o owner) take(path string) error {
	if o.uid < 0 && o.gid < 0 {
		return nil
	}
	return os.Lchown(path, o.uid, o.gid)
}

// makeDirs makes a directory with its parents and gives the new ones to o. It
// may run at once with others that make the same ones.
func makeDirs(path string, o owner) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if parent := filepath.Dir(path); parent != path {
		if err := makeDirs(parent, o); err != nil {
			return err
		}
	}
	err = os.Mkdir(path, newDirMode)
	if errors.Is(err, fs.ErrExist) {
		return existingDir(path, err)
	}
	if err != nil {
		return err
	}
	return o.take(path)
}

// existingDir accepts what somebody else has just made, if it is a directory.
func existingDir(path string, cause error) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	return cause
}

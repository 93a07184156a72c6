//go:build linux

package guest

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// trees are detached mounts by name. As root the host side makes them, since
// only it may map their owners; run by an ordinary user process 1 opens them
// itself, before it hides the host's files.
type trees map[string]*os.File

// openTree clones the mounts at path into a tree of its own.
func openTree(path string) (*os.File, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err == unix.EINVAL {
		// Mounts below path that came from the host may not be revealed.
		fd, err = unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	}
	if err != nil {
		return nil, fmt.Errorf("open_tree %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// attach shows the named tree at path and forgets it.
func (t trees) attach(name, path string) error {
	f, ok := t[name]
	if !ok {
		return fmt.Errorf("no tree %q", name)
	}
	defer f.Close()
	delete(t, name)
	err := unix.MoveMount(int(f.Fd()), "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("move_mount %s to %s: %w", name, path, err)
	}
	return nil
}

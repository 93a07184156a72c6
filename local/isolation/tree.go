//go:build linux

package isolation

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// detach clones the mount at path into a tree that is in no namespace and
// ends with its last descriptor: kill -9 of this process leaves no mount.
func detach(path string, recursive bool) (*os.File, error) {
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC)
	if recursive {
		flags |= unix.AT_RECURSIVE
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, flags)
	if err != nil {
		return nil, fmt.Errorf("open_tree %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// mapIDs makes the tree show owners as the user namespace sees them: what
// belongs to host id n belongs to id n inside.
func mapIDs(tree, userns *os.File) error {
	err := unix.MountSetattr(int(tree.Fd()), "", unix.AT_EMPTY_PATH, &unix.MountAttr{
		Attr_set:  unix.MOUNT_ATTR_IDMAP,
		Userns_fd: uint64(userns.Fd()),
	})
	if err != nil {
		return fmt.Errorf("idmapped mount of %s: %w", tree.Name(), err)
	}
	return nil
}

// mappedTree is detach and mapIDs. Where the file system or the kernel cannot
// map, the tree stays as it is: readable, not changeable.
func mappedTree(path string, userns *os.File) (tree *os.File, mapped bool, err error) {
	tree, err = detach(path, false)
	if err != nil {
		return nil, false, err
	}
	return tree, mapIDs(tree, userns) == nil, nil
}

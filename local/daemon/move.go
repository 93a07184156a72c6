package daemon

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// move renames, across file systems too: the parts of a sandbox's tree are
// layers of their own, and what comes from a lower one cannot be renamed.
func move(source, destination string) error {
	err := os.Rename(source, destination)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if _, err := os.Lstat(destination); err == nil {
		if err := os.Remove(destination); err != nil {
			return err
		}
	}
	if err := copyTree(source, destination); err != nil {
		_ = os.RemoveAll(destination)
		return err
	}
	return os.RemoveAll(source)
}

// copyTree copies what rename would have kept: content, links, modes, owners,
// times and user attributes.
func copyTree(source, destination string) error {
	info, err := os.Lstat(source)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		err = copyDir(source, destination)
	case info.Mode().IsRegular():
		err = copyFile(source, destination)
	case info.Mode()&fs.ModeSymlink != 0:
		err = copyLink(source, destination)
	default:
		err = copyNode(destination, info)
	}
	if err != nil {
		return err
	}
	return copyAttributes(source, destination, info)
}

func copyDir(source, destination string) error {
	if err := os.Mkdir(destination, 0o700); err != nil {
		return err
	}
	items, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := copyTree(filepath.Join(source, item.Name()), filepath.Join(destination, item.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(source, destination string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(destination, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func copyLink(source, destination string) error {
	target, err := os.Readlink(source)
	if err != nil {
		return err
	}
	return os.Symlink(target, destination)
}

// copyNode makes a named pipe, socket or device anew.
func copyNode(destination string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return syscall.EXDEV
	}
	return unix.Mknod(destination, st.Mode, int(st.Rdev))
}

func copyAttributes(source, destination string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		if err := os.Lchown(destination, int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil
	}
	copyXattrs(source, destination)
	if err := os.Chmod(destination, info.Mode()); err != nil {
		return err
	}
	return os.Chtimes(destination, info.ModTime(), info.ModTime())
}

// copyXattrs copies what the file system takes: attributes are not worth a
// failed move.
func copyXattrs(source, destination string) {
	for _, name := range attributes(source) {
		value := make([]byte, 1<<16)
		if n, err := unix.Getxattr(source, name, value); err == nil {
			_ = unix.Setxattr(destination, name, value[:n], 0)
		}
	}
}

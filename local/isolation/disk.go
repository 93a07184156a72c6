//go:build linux

package isolation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// disk is where one sandbox writes.
type disk struct {
	// tree is a mounted file system of its own, nil for a plain directory.
	tree *os.File
	// dir is the plain directory.
	dir string
	// layer is set when dir is somebody else's and stays.
	layer bool
	// size in bytes.
	size int64
}

// close lets the disk go; a directory is deleted.
func (d *disk) close() error {
	if d.tree != nil {
		_ = d.tree.Close()
	}
	if d.dir != "" {
		return removeTree(d.dir)
	}
	return nil
}

// root opens the directory that the layers lie in.
func (d *disk) root() (*os.File, error) {
	if d.tree == nil {
		return os.Open(d.dir)
	}
	// The tree itself is a path only; this can be read.
	fd, err := unix.Openat(int(d.tree.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "disk"), nil
}

// prepare makes the directories of the layers and gives all to the host id
// that root inside has; -1 leaves them ours.
func (d *disk) prepare(layers, id int) error {
	root, err := d.root()
	if err != nil {
		return err
	}
	defer root.Close()
	fd := int(root.Fd())
	for n := range layers {
		for _, kind := range []string{boot.UpperDir, boot.WorkDir} {
			name := kind + strconv.Itoa(n)
			if err := unix.Mkdirat(fd, name, 0o755); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if id < 0 {
				continue
			}
			if err := unix.Fchownat(fd, name, id, id, 0); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if id < 0 {
		return nil
	}
	return root.Chown(id, id)
}

// handle gives a tree to hand to the sandbox; a disk of its own is handed on
// itself, and what is kept serves to measure.
func (d *disk) handle() (*os.File, error) {
	if d.tree == nil {
		return detach(d.dir, false)
	}
	fd, err := unix.FcntlInt(d.tree.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "disk"), nil
}

// makeDiskTimeout bounds mkfs.
const makeDiskTimeout = 20 * time.Second

// inodes is how many files a disk can hold: as many as fit the default size,
// and fewer where their table alone would fill the disk.
func inodes(size int64) int {
	return int(min(max(size/(32<<10), 1024), 131072))
}

// makeDisk makes and mounts an empty ext4 of size bytes.
func makeDisk(ctx context.Context, dir string, size int64) (*disk, error) {
	f, err := os.CreateTemp(dir, "disk-*.img")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	image := f.Name()
	defer func() { _ = os.Remove(image) }()
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, makeDiskTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mkfs.ext4", "-q", "-F", "-m0", "-O", "^has_journal,^resize_inode",
		"-E", "lazy_itable_init=1,nodiscard", "-N", strconv.Itoa(inodes(size)), image)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mkfs.ext4: %w: %.200s", err, out)
	}
	tree, err := mountImage(f)
	if err != nil {
		return nil, err
	}
	return &disk{tree: tree, size: size}, nil
}

// mountImage mounts the file system in f; the tree is the only hold on it.
func mountImage(f *os.File) (*os.File, error) {
	loop, err := attachLoop(f)
	if err != nil {
		return nil, err
	}
	defer loop.Close()
	fs, err := unix.Fsopen("ext4", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("fsopen: %w", err)
	}
	defer func() { _ = unix.Close(fs) }()
	if err := unix.FsconfigSetString(fs, "source", loop.Name()); err != nil {
		return nil, fmt.Errorf("disk source: %w", err)
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOSUID)
	if err != nil {
		return nil, fmt.Errorf("fsmount: %w", err)
	}
	return os.NewFile(uintptr(fd), "disk"), nil
}

// loopTries bounds the race with others for a free loop device.
const loopTries = 16

func attachLoop(f *os.File) (*os.File, error) {
	ctl, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer ctl.Close()
	for range loopTries {
		n, err := unix.IoctlRetInt(int(ctl.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("loop device: %w", err)
		}
		loop, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		err = configureLoop(loop, f)
		if err == nil {
			return loop, nil
		}
		_ = loop.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("loop device: %w", err)
		}
	}
	return nil, fmt.Errorf("loop device: %w", unix.EBUSY)
}

func configureLoop(loop, f *os.File) error {
	return unix.IoctlLoopConfigure(int(loop.Fd()), &unix.LoopConfig{
		Fd:   uint32(f.Fd()),
		Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR},
	})
}

//go:build linux

package isolation

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// diskFor gives a disk of its own from the pool, or a directory.
func (e *Engine) diskFor(s Spec, ids *idRange) (*disk, Limit, error) {
	size := int64(s.DiskMB) * mebibyte
	limit := Limit{Name: "disk", Value: strconv.FormatInt(size, 10)}
	d := e.disks.take(size)
	if d != nil {
		limit.Enforced = true
	} else {
		dir, err := e.home.boxDir(s.ID)
		if err != nil {
			return nil, limit, err
		}
		d = &disk{dir: dir, size: size}
		limit.Why = e.disks.why()
	}
	if ids == nil {
		return d, limit, nil
	}
	if err := d.chown(ids.base); err != nil {
		d.close()
		_ = d.remove()
		return nil, limit, err
	}
	return d, limit, nil
}

func (d *disk) chown(id int) error {
	if d.tree == nil {
		return os.Chown(d.dir, id, id)
	}
	return unix.Fchownat(int(d.tree.Fd()), "", id, id, unix.AT_EMPTY_PATH)
}

// open gives a tree to hand to the sandbox. The pool's tree itself is handed
// on; the descriptor that is kept serves to measure.
func (d *disk) open() (*os.File, error) {
	if d.tree == nil {
		return detach(d.dir, false)
	}
	fd, err := unix.FcntlInt(d.tree.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "disk"), nil
}

func (d *disk) remove() error {
	if d.dir == "" {
		return nil
	}
	return removeTree(d.dir)
}

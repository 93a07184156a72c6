//go:build linux

package isolation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// settleLayer makes a layer of what a sandbox left in dir: a directory for each
// overlay that it wrote to, with the owners that it saw inside, and without what
// is of the moment.
func settleLayer(dir string, ids *idRange) error {
	mode := Ordinary
	if ids != nil {
		mode = Root
	}
	var errs []error
	for i, l := range layers("", mode) {
		n := strconv.Itoa(i)
		upper := filepath.Join(dir, boot.UpperDir+n)
		errs = append(errs, removeTree(filepath.Join(dir, boot.WorkDir+n)))
		if l.Target == "/" {
			errs = append(errs, removeMoment(upper))
		}
		// One without content is of no use.
		if err := os.Remove(upper); err != nil {
			errs = append(errs, os.Rename(upper, filepath.Join(dir, boot.LayerDir(l.Target))))
		}
	}
	if ids != nil {
		errs = append(errs, lowerOwners(dir, ids.base))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("layer: %w", err)
	}
	return nil
}

// removeMoment deletes what no later sandbox should find.
func removeMoment(root string) error {
	var errs []error
	for _, tmp := range []string{"tmp", "var/tmp"} {
		entries, err := os.ReadDir(filepath.Join(root, tmp))
		if err != nil {
			continue
		}
		for _, e := range entries {
			errs = append(errs, removeTree(filepath.Join(root, tmp, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// lowerOwners takes base from every owner in its range. A file that was met by
// another name has been done.
func lowerOwners(dir string, base int) error {
	lowered := func(id uint32) int {
		if n := int(id) - base; n >= 0 && n < rangeLen {
			return n
		}
		return int(id)
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return fmt.Errorf("%s: no owner", path)
		}
		uid, gid := lowered(st.Uid), lowered(st.Gid)
		if uid == int(st.Uid) && gid == int(st.Gid) {
			return nil
		}
		if err := os.Lchown(path, uid, gid); err != nil {
			return err
		}
		// The change of owner takes these bits away.
		if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 && info.Mode()&fs.ModeSymlink == 0 {
			return os.Chmod(path, info.Mode())
		}
		return nil
	})
}

// RemoveLayer deletes a layer, or what an unfinished sandbox left of one.
func RemoveLayer(dir string) error { return removeTree(dir) }

// LayerSize is how much a layer takes, in bytes.
func LayerSize(dir string) int64 { return treeSize(dir) }

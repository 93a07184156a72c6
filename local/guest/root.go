//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// stage is where the new root is put together. It lies over a directory that
// every system has; nothing of the host below it is needed any more.
const stage = "/tmp"

// stageRoot makes the part of the file tree that is alike in all sandboxes of a
// kind: as root, a process that waits has done it before it becomes a sandbox.
func (p *process1) stageRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	p.staged = true
	return steps(
		namedStep{"trees", p.openLayerTrees},
		namedStep{"stage", openStage},
		namedStep{"layers", p.mountLayers},
		namedStep{"proc", p.mountProc},
		namedStep{"dev", func() error { return mountDev(p.cfg.SharedBytes) }},
		namedStep{"run", mountRun},
	)
}

// buildRoot makes the sandbox's file tree and makes it the root.
func (p *process1) buildRoot() error {
	if !p.staged {
		// First, for the stage hides what lies below it.
		if err := step("own trees", p.openOwnTrees()); err != nil {
			return err
		}
		if err := p.stageRoot(); err != nil {
			return err
		}
	}
	return steps(
		namedStep{"binary", p.mountSudo},
		namedStep{"host mounts", p.mountHost},
		namedStep{"files", p.writeFiles},
		namedStep{"pivot", pivot},
	)
}

// openLayerTrees opens the host's directories that lie below, in ordinary mode.
func (p *process1) openLayerTrees() error {
	if !p.cfg.Ordinary {
		return nil
	}
	want := map[string]string{boot.FDDisk: p.cfg.Disk}
	for _, l := range p.cfg.Layers {
		want[boot.FDLower+l.Target] = l.Lower
	}
	for i, path := range p.cfg.Under {
		want[boot.FDUnder+strconv.Itoa(i)] = path
	}
	return p.openAll(want)
}

// openOwnTrees opens what is this sandbox's alone, in ordinary mode.
func (p *process1) openOwnTrees() error {
	if !p.cfg.Ordinary {
		return nil
	}
	want := map[string]string{}
	for i, m := range p.cfg.Mounts {
		want[boot.FDMount+strconv.Itoa(i)] = m.Source
	}
	if p.cfg.Egress != "" {
		want[boot.FDEgress] = p.cfg.Egress
	}
	// The path of a binary that was since replaced is gone: no sudo then.
	if f, err := openTree(p.cfg.Binary); err == nil {
		p.trees[boot.FDBinary] = f
	}
	return p.openAll(want)
}

func (p *process1) openAll(want map[string]string) error {
	for name, path := range want {
		f, err := openTree(path)
		if err != nil {
			return err
		}
		p.trees[name] = f
	}
	return nil
}

// openStage hides stage with an empty file system and goes there; all paths
// until pivot are relative to it.
func openStage() error {
	if err := unix.Mount("tmpfs", stage, "tmpfs", unix.MS_NOSUID, "size=1m,mode=755"); err != nil {
		return err
	}
	if err := os.Chdir(stage); err != nil {
		return err
	}
	return makeDirs("disk", "lower", "new")
}

// mountRun gives the sandbox a /run in memory, as every system has.
func mountRun() error {
	opts := "mode=755,size=16m"
	return unix.Mount("tmpfs", "new/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, opts)
}

func makeDirs(paths ...string) error {
	for _, d := range paths {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (p *process1) mountLayers() error {
	if err := p.trees.attach(boot.FDDisk, "disk"); err != nil {
		return err
	}
	if err := p.attachUnder(); err != nil {
		return err
	}
	for i, l := range p.cfg.Layers {
		if err := p.mountLayer(i, l); err != nil {
			return fmt.Errorf("%s: %w", l.Target, err)
		}
	}
	return nil
}

func (p *process1) mountLayer(i int, l boot.Layer) error {
	n := strconv.Itoa(i)
	lower, upper, work := "lower/"+n, "disk/"+boot.UpperDir+n, "disk/"+boot.WorkDir+n
	if err := os.Mkdir(lower, 0o755); err != nil {
		return err
	}
	if err := p.trees.attach(boot.FDLower+l.Target, lower); err != nil {
		return err
	}
	under := p.under(l.Target)
	if err := p.mask(l.Target, lower, upper, under); err != nil {
		return err
	}
	if err := placeSudo(l.Target, upper); err != nil {
		return err
	}
	// Without "volatile": it would need a sync, which takes longer than all
	// mounts together.
	opts := "userxattr,lowerdir=" + strings.Join(append(under, lower), ":") + ",upperdir=" + upper + ",workdir=" + work
	return unix.Mount("overlay", filepath.Join("new", l.Target), "overlay", 0, opts)
}

// attachUnder shows the layers of the template beside the stage's new root.
func (p *process1) attachUnder() error {
	for i := range p.cfg.Under {
		n := strconv.Itoa(i)
		if err := makeDirs("under/" + n); err != nil {
			return err
		}
		if err := p.trees.attach(boot.FDUnder+n, "under/"+n); err != nil {
			return err
		}
	}
	return nil
}

// under are the layers of the template that wrote to target, topmost first.
func (p *process1) under(target string) []string {
	var list []string
	for i := range p.cfg.Under {
		dir := "under/" + strconv.Itoa(i) + "/" + boot.LayerDir(target)
		if exists(dir) {
			list = append(list, dir)
		}
	}
	return list
}

// covered tells whether a layer of the template keeps what lies below it from
// showing at rel.
func covered(under []string, rel string) bool {
	for _, dir := range under {
		path := filepath.Join(dir, rel)
		opaque := make([]byte, 1)
		if n, err := unix.Lgetxattr(path, opaqueMark, opaque); err == nil && n == 1 && opaque[0] == 'y' {
			return true
		}
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return true
		}
	}
	return false
}

// opaqueMark is overlayfs' sign for a directory that hides those below it.
const opaqueMark = "user.overlay.opaque"

// mask makes Hidden directories appear empty and Removed files absent, by
// preparing the writable layer of the overlay at target. What a layer of the
// template wrote there stays.
func (p *process1) mask(target, lower, upper string, under []string) error {
	for _, path := range p.cfg.Hidden {
		rel, ok := below(target, path)
		if !ok || !exists(filepath.Join(lower, rel)) || covered(under, rel) {
			continue
		}
		dir := filepath.Join(upper, rel)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := unix.Setxattr(dir, opaqueMark, []byte("y"), 0); err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
	}
	for _, path := range p.cfg.Removed {
		rel, ok := below(target, path)
		if !ok || !exists(filepath.Join(lower, rel)) || covered(under, rel) {
			continue
		}
		gone := filepath.Join(upper, rel)
		if err := os.MkdirAll(filepath.Dir(gone), 0o755); err != nil {
			return err
		}
		// A character device 0/0 is overlayfs' sign for "deleted".
		// It is there when another process made the root of this disk before.
		if err := unix.Mknod(gone, unix.S_IFCHR, 0); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("remove %s: %w", path, err)
		}
	}
	return nil
}

// placeSudo makes the file that sudo is shown on; the host's own sudo is of no
// use inside, where no program gains privileges.
func placeSudo(target, upper string) error {
	rel, ok := below(target, sudoPath)
	if !ok {
		return nil
	}
	file := filepath.Join(upper, rel)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, nil, 0o755)
}

// below gives path relative to target; the root layer takes nothing, since
// every masked path lies in a layer of its own.
func below(target, path string) (string, bool) {
	if target == "/" {
		return "", false
	}
	rel, err := filepath.Rel(target, path)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, true
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// mountHost shows the host directories that the caller named.
func (p *process1) mountHost() error {
	for i, m := range p.cfg.Mounts {
		target := filepath.Join("new", m.Target)
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		if err := p.trees.attach(boot.FDMount+strconv.Itoa(i), target); err != nil {
			return err
		}
		flags := uintptr(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
		if !m.Write {
			flags |= unix.MOUNT_ATTR_RDONLY
		}
		if err := setAttr(target, flags); err != nil {
			return err
		}
	}
	return nil
}

// setAttr adds mount attributes to the mounts at path.
func setAttr(path string, attrs uintptr) error {
	a := unix.MountAttr{Attr_set: uint64(attrs)}
	err := unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &a)
	if err != nil {
		return fmt.Errorf("mount_setattr %s: %w", path, err)
	}
	return nil
}

// pivot makes new the root and drops everything else of the host.
func pivot() error {
	if err := os.Chdir("new"); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("old root: %w", err)
	}
	return os.Chdir("/")
}

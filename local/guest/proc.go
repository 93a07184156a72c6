//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// maskedProc are files and directories of /proc that say something about the
// host or its hardware; Docker masks the same.
var maskedProc = [...]string{
	"acpi", "asound", "interrupts", "kcore", "keys", "key-users", "kallsyms", "kmsg",
	"latency_stats", "sched_debug", "scsi", "timer_list", "timer_stats", "vmallocinfo", "zoneinfo",
}

// readOnlyProc may be read and not written; Docker's list.
var readOnlyProc = [...]string{"bus", "fs", "irq", "sys", "sysrq-trigger"}

// mountProc mounts the process table of the sandbox with its dangerous parts
// covered, and an empty, read-only /sys.
func (p *process1) mountProc() error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "new/proc", "proc", flags, ""); err != nil {
		return err
	}
	if p.cfg.Ordinary {
		if err := limitWatches(); err != nil {
			return err
		}
	}
	for _, n := range maskedProc {
		if err := maskPath("new/proc/" + n); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	for _, n := range readOnlyProc {
		if err := readOnlyPath("new/proc/" + n); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	return unix.Mount("tmpfs", "new/sys", "tmpfs", flags|unix.MS_RDONLY, "mode=555,size=4k")
}

// watchesEach leaves most of the usual 128 instances of one user to the host and
// to other sandboxes: where an ordinary user's id is all there is, they share.
const watchesEach = "24"

// limitWatches bounds the inotify instances of this user namespace.
func limitWatches() error {
	err := os.WriteFile("new/proc/sys/user/max_inotify_instances", []byte(watchesEach), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// maskPath covers a file with /dev/null and a directory with an empty one.
func maskPath(path string) error {
	fi, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if fi.IsDir() {
		return unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY, "mode=555,size=4k")
	}
	return unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
}

func readOnlyPath(path string) error {
	err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, "")
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	return setAttr(path, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
}

//go:build linux

package guest

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mountDev makes a minimal /dev: six harmless nodes of the host, terminals of
// the sandbox's own, and shared memory bounded by shared bytes.
func mountDev(shared int64) error {
	const flags = unix.MS_NOSUID | unix.MS_NOEXEC
	if err := unix.Mount("tmpfs", "new/dev", "tmpfs", flags, "mode=755,size=64k"); err != nil {
		return err
	}
	for _, n := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := bindNode(n); err != nil {
			return err
		}
	}
	if err := makeDirs("new/dev/pts", "new/dev/shm"); err != nil {
		return err
	}
	err := unix.Mount("devpts", "new/dev/pts", "devpts", flags, "newinstance,ptmxmode=0666,mode=0620")
	if err != nil {
		return fmt.Errorf("devpts: %w", err)
	}
	opts := fmt.Sprintf("mode=1777,size=%d", shared)
	err = unix.Mount("tmpfs", "new/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, opts)
	if err != nil {
		return fmt.Errorf("shm: %w", err)
	}
	return linkDev()
}

func bindNode(name string) error {
	target := "new/dev/" + name
	if err := os.WriteFile(target, nil, 0o666); err != nil {
		return err
	}
	if err := unix.Mount("/dev/"+name, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func linkDev() error {
	links := [][2]string{
		{"pts/ptmx", "ptmx"},
		{"/proc/self/fd", "fd"},
		{"/proc/self/fd/0", "stdin"},
		{"/proc/self/fd/1", "stdout"},
		{"/proc/self/fd/2", "stderr"},
	}
	for _, l := range links {
		if err := os.Symlink(l[0], "new/dev/"+l[1]); err != nil {
			return err
		}
	}
	return nil
}

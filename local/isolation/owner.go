//go:build linux

package isolation

import (
	"errors"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// ownerOf is the host's number of root in the namespaces of cmd; 0 where that is
// the server's own user.
func ownerOf(cmd *exec.Cmd) int {
	if ids := cmd.SysProcAttr.UidMappings; os.Geteuid() == 0 && len(ids) > 0 {
		return ids[0].HostID
	}
	return 0
}

// noSetuidFixup keeps a thread's capabilities when its effective user changes.
const noSetuidFixup = 1 << 2

// become makes uid the effective user of the calling thread, which is locked, and
// keeps its capabilities. Whoever makes a user namespace pays for what is counted
// in it: with an owner of its own no sandbox uses up the inotify instances, queued
// signals or locked memory of root and of its neighbours. A root that may not do
// this, as in some containers, pays itself. back undoes it; when that fails the
// thread is of no use any more.
func become(uid int) (back func() error) {
	before, err := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0)
	if uid == 0 || err != nil || unix.Prctl(unix.PR_SET_SECUREBITS, uintptr(before)|noSetuidFixup, 0, 0, 0) != nil {
		return func() error { return nil }
	}
	// Where it is refused the user stays, which is as well.
	_ = setEffective(uid)
	return func() error {
		return errors.Join(setEffective(0), unix.Prctl(unix.PR_SET_SECUREBITS, uintptr(before), 0, 0, 0))
	}
}

// setEffective changes the calling thread alone: the library's call changes all.
func setEffective(uid int) error {
	const keep = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
		return os.NewSyscallError("setresuid", errno)
	}
	return nil
}

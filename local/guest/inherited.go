//go:build linux

package guest

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// closeInherited closes what the server itself was started with: a shell's lock
// file, log or directory would be a way out of the sandbox. Process 1 opens
// everything of its own close-on-exec, so what is not came from outside.
func closeInherited() error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		// None of them reaches a command, at least.
		return unix.CloseRange(boot.BinaryFD, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	}
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < boot.BinaryFD {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	return nil
}

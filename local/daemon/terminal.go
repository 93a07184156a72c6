package daemon

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	processpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// openTerminal makes a new terminal of the given size.
func (s *stdio) openTerminal(size *processpb.PTY_Size, uid, gid int) error {
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: "/dev/ptmx", Err: err}
	}
	parent, err := pollable(master, "/dev/ptmx")
	if err != nil {
		return err
	}
	s.input, s.tty = parent, parent
	s.outputs = []*source{{file: parent, from: streamPTY}}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return os.NewSyscallError("unlockpt", err)
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return os.NewSyscallError("ptsname", err)
	}
	path := "/dev/pts/" + strconv.Itoa(number)
	slave, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	if uid >= 0 {
		_ = unix.Fchown(slave, uid, -1)
	}
	own := os.NewFile(uintptr(slave), "tty")
	s.child = [3]*os.File{own, own, own}
	return resize(parent, size)
}

// resize sets a terminal's size; its foreground programs get SIGWINCH.
func resize(tty *os.File, size *processpb.PTY_Size) error {
	raw, err := tty.SyscallConn()
	if err != nil {
		return err
	}
	window := &unix.Winsize{Row: uint16(size.GetRows()), Col: uint16(size.GetCols())}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, window)
	})
	if err != nil {
		return err
	}
	return os.NewSyscallError("set terminal size", failed)
}

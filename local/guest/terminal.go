//go:build linux

package guest

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is the pseudo terminal that a command under sudo gets when sudo
// itself has one: the command is in another session and needs its own for job
// control. Without a terminal all methods do nothing.
type terminal struct {
	master, slave *os.File
	before        *unix.Termios
	copied        chan struct{}
}

// openTerminal makes one when stdin and stdout are terminals.
func openTerminal() (*terminal, error) {
	t := &terminal{}
	before, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		return t, nil
	}
	if _, err := unix.IoctlGetTermios(1, unix.TCGETS); err != nil {
		return t, nil
	}
	if t.master, t.slave, err = openPair(); err != nil {
		return nil, err
	}
	if err := unix.IoctlSetTermios(int(t.slave.Fd()), unix.TCSETS, before); err != nil {
		return nil, err
	}
	t.before = before
	t.resize()
	raw := *before
	raw.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	raw.Oflag &^= unix.OPOST
	raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Cflag = raw.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	return t, unix.IoctlSetTermios(0, unix.TCSETS, &raw)
}

func openPair() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return master, slave, err
}

// files are what the command gets as its standard descriptors.
func (t *terminal) files() (in, out, errs *os.File) {
	if t.slave == nil {
		return os.Stdin, os.Stdout, os.Stderr
	}
	return t.slave, t.slave, t.slave
}

// started begins to copy, once the command holds its end.
func (t *terminal) started() {
	if t.slave == nil {
		return
	}
	t.copied = make(chan struct{})
	go func() { _, _ = io.Copy(t.master, os.Stdin) }()
	go func() {
		defer close(t.copied)
		_, _ = io.Copy(os.Stdout, t.master)
	}()
}

// drainTimeout bounds the wait for output of what still holds the terminal.
const drainTimeout = 100 * time.Millisecond

// drain copies what the command wrote last.
func (t *terminal) drain() {
	if t.slave == nil {
		return
	}
	_ = t.slave.Close()
	select {
	case <-t.copied:
	case <-time.After(drainTimeout):
	}
}

func (t *terminal) resize() {
	if t.master == nil {
		return
	}
	if size, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ); err == nil {
		_ = unix.IoctlSetWinsize(int(t.master.Fd()), unix.TIOCSWINSZ, size)
	}
}

// restore puts the outer terminal back.
func (t *terminal) restore() {
	if t.before != nil {
		_ = unix.IoctlSetTermios(0, unix.TCSETS, t.before)
		t.before = nil
	}
}

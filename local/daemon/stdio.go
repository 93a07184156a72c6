package daemon

import (
	"os"

	"golang.org/x/sys/unix"

	processpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// pipeCapacity is what an output pipe may hold in bytes: a command that writes
// in bursts then need not wait for its reader each 64 KiB. Unprivileged users
// may have 64 MiB in all, so not more.
const pipeCapacity = 256 << 10

// stdio is both ends of a command's standard descriptors.
type stdio struct {
	// input is the write end of stdin or the terminal; nil when there is none.
	input *os.File
	// outputs are the read ends.
	outputs []*source
	// tty is the terminal's own side of input and outputs, nil without one.
	tty   *os.File
	child [3]*os.File
}

// source is one output to read.
type source struct {
	file *os.File
	from stream
}

// openStdio makes the descriptors for a command of the given owner.
func openStdio(size *processpb.PTY_Size, stdin bool, uid, gid int) (*stdio, error) {
	s := &stdio{}
	var err error
	if size != nil {
		err = s.openTerminal(size, uid, gid)
	} else {
		err = s.openPipes(stdin, uid, gid)
	}
	if err != nil {
		s.closeChild()
		s.closeParent()
		return nil, err
	}
	return s, nil
}

func (s *stdio) openPipes(stdin bool, uid, gid int) error {
	if err := s.openStdin(stdin, uid, gid); err != nil {
		return err
	}
	for i, from := range []stream{streamStdout, streamStderr} {
		read, write, err := pipe(uid, gid)
		if err != nil {
			return err
		}
		// A smaller pipe is only slower.
		_, _ = unix.FcntlInt(uintptr(read), unix.F_SETPIPE_SZ, pipeCapacity)
		parent, err := pollable(read, "|0")
		s.child[i+1] = os.NewFile(uintptr(write), "|1")
		if err != nil {
			return err
		}
		s.outputs = append(s.outputs, &source{file: parent, from: from})
	}
	return nil
}

func (s *stdio) openStdin(enabled bool, uid, gid int) error {
	if !enabled {
		null, err := os.Open(os.DevNull)
		s.child[0] = null
		return err
	}
	read, write, err := pipe(uid, gid)
	if err != nil {
		return err
	}
	s.child[0] = os.NewFile(uintptr(read), "|0")
	s.input, err = pollable(write, "|1")
	return err
}

// pipe makes a pipe whose ends are both blocking. Its owner is the command's
// user, who could not open /dev/stdout otherwise.
func pipe(uid, gid int) (read, write int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, os.NewSyscallError("pipe2", err)
	}
	if uid >= 0 {
		_ = unix.Fchown(ends[0], uid, gid)
	}
	return ends[0], ends[1], nil
}

// pollable makes our end of a pipe or terminal non-blocking, so that waits on it
// can be ended. The child's end is another open file and stays as it is.
func pollable(fd int, name string) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("setnonblock", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// closeChild closes the descriptors that the child has now too.
func (s *stdio) closeChild() {
	for i, f := range s.child {
		if f != nil && (i == 0 || f != s.child[0]) {
			_ = f.Close()
		}
	}
	s.child = [3]*os.File{}
}

// closeParent closes our ends; used when no command came to own them.
func (s *stdio) closeParent() {
	if s.input != nil {
		_ = s.input.Close()
	}
	for _, o := range s.outputs {
		_ = o.file.Close()
	}
}

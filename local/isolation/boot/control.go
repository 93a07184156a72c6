package boot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Op says what a control message asks for.
type Op string

const (
	// OpBoot carries a Config: first descriptor is a file with its JSON,
	// the others are Config.FDs.
	OpBoot Op = "boot"
	// OpStage comes before OpBoot to a process that waits, in the same form, or
	// without a Config: it has time to do what does not set sandboxes apart.
	// Nothing answers it; what failed is told as the answer to OpBoot.
	OpStage Op = "stage"
	// OpReady is the answer to OpBoot: the sandbox answers HTTP.
	OpReady Op = "ready"
	// OpFailed is the other answer to OpBoot: Error and Step say why.
	OpFailed Op = "failed"
	// OpConn hands over one connection to the HTTP service.
	OpConn Op = "conn"
	// OpPort asks for a connection to Port inside; the descriptor is a
	// socket that takes the answer.
	OpPort Op = "port"
	// OpWarm asks a sandbox that is nobody's yet to start what takes long; the
	// descriptor is a socket that takes the answer, OpReady or OpFailed.
	OpWarm Op = "warm"
	// OpClaim gives it to its owner: first descriptor a file with a Claim, then a
	// socket that takes the answer, OpReady or OpFailed.
	OpClaim Op = "claim"
	// OpRefused answers OpPort: nothing listens there; and OpLaunch: Errno.
	OpRefused Op = "refused"
	// OpLaunch asks for a process: first descriptor a file with the JSON of
	// what to start, then its stdin, stdout and stderr.
	OpLaunch Op = "launch"
	// OpStarted answers OpLaunch: Pid.
	OpStarted Op = "started"
	// OpExited follows OpStarted: Status, as wait(2) gives it.
	OpExited Op = "exited"
	// OpSignal sends Signal to the process group of what was started.
	OpSignal Op = "signal"
)

// Message is one message of the control socket (SOCK_SEQPACKET).
type Message struct {
	Op    Op     `json:"op"`
	Port  int    `json:"port,omitempty"`
	Step  string `json:"step,omitempty"`
	Error string `json:"error,omitempty"`
	// Errno is the system's error behind Error, 0 = none.
	Errno int `json:"errno,omitempty"`
	// Seq pairs OpLaunch with its answers where several are under way.
	Seq    int    `json:"seq,omitempty"`
	Pid    int    `json:"pid,omitempty"`
	Status uint32 `json:"status,omitempty"`
	Signal int    `json:"signal,omitempty"`
}

// maxMessage and maxFDs bound what is read in one message.
const (
	maxMessage = 16 << 10
	maxFDs     = 64
)

// Pair makes a control socket: ours is the near end, with deadlines; theirs
// is a file to inherit or to send, without.
func Pair() (ours *net.UnixConn, theirs *os.File, err error) {
	return pair(unix.SOCK_SEQPACKET)
}

// StreamPair is Pair for a connection that carries bytes.
func StreamPair() (ours *net.UnixConn, theirs *os.File, err error) {
	ours, theirs, err = pair(unix.SOCK_STREAM)
	if err == nil {
		widen(int(theirs.Fd()))
		if raw, rawErr := ours.SyscallConn(); rawErr == nil {
			_ = raw.Control(func(fd uintptr) { widen(int(fd)) })
		}
	}
	return ours, theirs, err
}

// streamBuffer is what one end may be ahead of the other: the system's default
// makes the two processes take turns.
const streamBuffer = 2 << 20

// widen enlarges a socket's buffer, beyond the system's limit where that is
// allowed.
func widen(fd int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, streamBuffer) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, streamBuffer)
	}
}

func pair(kind int) (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "control")
	ours, err := Conn(os.NewFile(uintptr(fds[0]), "control"))
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// Conn makes a connection of an inherited or received socket and closes the
// file in any case.
func Conn(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		_ = c.Close()
		return nil, errors.New("not a unix socket")
	}
	return u, nil
}

// Send writes one message with its descriptors. The files stay the caller's.
func Send(c *net.UnixConn, m Message, files ...*os.File) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var oob []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		oob = unix.UnixRights(fds...)
	}
	_, _, err = c.WriteMsgUnix(b, oob, nil)
	return err
}

// Receive reads one message. The files are the caller's. At the end of the
// peer it returns io.EOF.
func Receive(c *net.UnixConn) (Message, []*os.File, error) {
	var m Message
	b := make([]byte, maxMessage)
	oob := make([]byte, unix.CmsgSpace(4*maxFDs))
	n, on, _, _, err := c.ReadMsgUnix(b, oob)
	if err != nil {
		return m, nil, err
	}
	files, err := received(oob[:on])
	if err != nil {
		return m, nil, err
	}
	if n == 0 {
		closeAll(files)
		return m, nil, io.EOF
	}
	if err := json.Unmarshal(b[:n], &m); err != nil {
		closeAll(files)
		return m, nil, fmt.Errorf("control message: %w", err)
	}
	return m, files, nil
}

func received(oob []byte) ([]*os.File, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("control message: %w", err)
	}
	var files []*os.File
	for i := range msgs {
		fds, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// Document puts v as JSON into a file without a name.
func Document(v any) (*os.File, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Blob(b)
}

// Blob puts bytes into a file without a name, its offset at 0.
func Blob(b []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("boot", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "boot")
	if _, err := f.WriteAt(b, 0); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

//go:build linux

package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// userSide is process 1's end of the process that starts the commands of
// `user` where there is only one id. That process lives in a user namespace of
// its own, in which the one id is called 1000; it has to be made before the
// system call filter forbids namespaces.
type userSide struct {
	conn *net.UnixConn
	data int64

	mu      sync.Mutex
	last    int
	pending map[int]*userProcess
}

// errUserSideGone is returned when the process that starts commands was killed.
var errUserSideGone = errors.New("the process that starts commands is gone")

// startUserSide starts it, in ordinary mode.
func (p *process1) startUserSide() error {
	if !p.cfg.Ordinary {
		return nil
	}
	ours, theirs, err := boot.Pair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	id := []syscall.SysProcIDMap{{ContainerID: userID, HostID: 0, Size: 1}}
	_, err = syscall.ForkExec(p.self, []string{boot.UserSideName}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), theirs.Fd()},
		Sys: &syscall.SysProcAttr{
			Setsid: true, Cloneflags: unix.CLONE_NEWUSER, UidMappings: id, GidMappings: id,
			Credential: &syscall.Credential{Uid: userID, Gid: userID, NoSetGroups: true},
		},
	})
	if err != nil {
		return err
	}
	filter, err := boot.Blob(p.cfg.Filter)
	if err != nil {
		return err
	}
	defer filter.Close()
	if err := boot.Send(ours, boot.Message{Op: boot.OpBoot}, filter); err != nil {
		return err
	}
	p.userSide = &userSide{conn: ours, data: p.cfg.DataBytes, pending: map[int]*userProcess{}}
	go p.userSide.read()
	return nil
}

// userProcess is one process that the user side started.
type userProcess struct {
	pid     int
	started chan error
	status  chan syscall.WaitStatus
}

func (p *userProcess) Pid() int { return p.pid }

func (p *userProcess) Wait() syscall.WaitStatus { return <-p.status }

// Launch implements daemon.Launcher.
func (u *userSide) Launch(l *daemon.Launch) (daemon.Process, error) {
	doc, err := boot.Document(order{Path: l.Path, Args: l.Args, Env: l.Env, Dir: l.Dir, TTY: l.TTY, Data: u.data})
	if err != nil {
		return nil, err
	}
	defer doc.Close()
	p := &userProcess{started: make(chan error, 1), status: make(chan syscall.WaitStatus, 1)}
	seq, err := u.enter(p)
	if err != nil {
		return nil, err
	}
	err = boot.Send(u.conn, boot.Message{Op: boot.OpLaunch, Seq: seq}, doc, l.Stdin, l.Stdout, l.Stderr)
	if err != nil {
		u.leave(seq)
		return nil, errUserSideGone
	}
	if err := <-p.started; err != nil {
		return nil, err
	}
	return p, nil
}

func (u *userSide) enter(p *userProcess) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pending == nil {
		return 0, errUserSideGone
	}
	u.last++
	u.pending[u.last] = p
	return u.last, nil
}

func (u *userSide) leave(seq int) *userProcess {
	u.mu.Lock()
	defer u.mu.Unlock()
	p := u.pending[seq]
	delete(u.pending, seq)
	return p
}

func (u *userSide) find(seq int) *userProcess {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.pending[seq]
}

// read settles what was launched until the user side ends; then everything
// that it started counts as killed.
func (u *userSide) read() {
	for {
		m, files, err := boot.Receive(u.conn)
		for _, f := range files {
			_ = f.Close()
		}
		if err != nil {
			u.abandon()
			return
		}
		u.settle(m)
	}
}

func (u *userSide) settle(m boot.Message) {
	switch m.Op {
	case boot.OpStarted:
		if p := u.find(m.Seq); p != nil {
			p.pid = m.Pid
			p.started <- nil
		}
	case boot.OpRefused:
		if p := u.leave(m.Seq); p != nil {
			p.started <- syscall.Errno(m.Errno)
		}
	case boot.OpExited:
		if p := u.leave(m.Seq); p != nil {
			p.status <- syscall.WaitStatus(m.Status)
		}
	}
}

func (u *userSide) abandon() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range u.pending {
		select {
		case p.started <- errUserSideGone:
		default:
		}
		p.status <- syscall.WaitStatus(syscall.SIGKILL)
	}
	u.pending = nil
}

// order says what to start; the JSON form of daemon.Launch without its files.
type order struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
	TTY  bool     `json:"tty,omitempty"`
	// Data bounds the memory of each process; 0 = no bound.
	Data int64 `json:"data,omitempty"`
	// User is for sudo: whom to run it as.
	User string `json:"user,omitempty"`
}

// maxOrder bounds an order; an argument list is at most 2 MiB in Linux.
const maxOrder = 16 << 20

func readOrder(f *os.File, v *order) error {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxOrder))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// runUserSide is the process itself.
func runUserSide() int {
	conn, err := boot.Conn(os.NewFile(boot.ControlFD, "control"))
	if err != nil {
		return 1
	}
	nameProcess(boot.UserSideName)
	unix.Umask(0o022)
	surviveSignals()
	marks := openVictims()
	if err := confineUserSide(conn); err != nil {
		return 1
	}
	reaper := daemon.NewReaper()
	go reaper.Run(nil)
	s := &starter{conn: conn, victims: marks, direct: daemon.Direct{Reaper: reaper}}
	for {
		m, files, err := boot.Receive(conn)
		if err != nil {
			return 0
		}
		if m.Op == boot.OpLaunch && len(files) == 4 {
			s.launch(m.Seq, files)
		}
		for _, f := range files {
			_ = f.Close()
		}
	}
}

func confineUserSide(conn *net.UnixConn) error {
	m, files, err := boot.Receive(conn)
	if err != nil {
		return err
	}
	if m.Op != boot.OpBoot || len(files) != 1 {
		return errors.New("no boot message")
	}
	defer files[0].Close()
	filter, err := io.ReadAll(io.NewSectionReader(files[0], 0, maxOrder))
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("dumpable: %w", err)
	}
	return loadFilter(filter)
}

// starter starts processes for process 1.
type starter struct {
	conn    *net.UnixConn
	victims *victims
	direct  daemon.Direct
}

func (s *starter) launch(seq int, files []*os.File) {
	var o order
	if err := readOrder(files[0], &o); err != nil {
		s.refuse(seq, err)
		return
	}
	var p daemon.Process
	var err error
	s.victims.during(func() {
		p, err = s.direct.Launch(&daemon.Launch{
			Path: o.Path, Args: o.Args, Env: o.Env, Dir: o.Dir, TTY: o.TTY,
			User:  daemon.User{UID: os.Geteuid(), GID: os.Getegid()},
			Stdin: files[1], Stdout: files[2], Stderr: files[3],
		})
	})
	if err != nil {
		s.refuse(seq, err)
		return
	}
	boundData(p.Pid(), o.Data)
	_ = boot.Send(s.conn, boot.Message{Op: boot.OpStarted, Seq: seq, Pid: p.Pid()})
	go func() {
		status := p.Wait()
		_ = boot.Send(s.conn, boot.Message{Op: boot.OpExited, Seq: seq, Status: uint32(status)})
	}()
}

func (s *starter) refuse(seq int, err error) {
	_ = boot.Send(s.conn, boot.Message{Op: boot.OpRefused, Seq: seq, Errno: errnoOf(err)})
}

// errnoOf gives the system's error in err; EIO when there is none.
func errnoOf(err error) int {
	var n syscall.Errno
	if errors.As(err, &n) {
		return int(n)
	}
	return int(syscall.EIO)
}

//go:build linux

package guest

import (
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// sudoSocket is where sudo asks process 1, since no program inside gains
// privileges by itself.
const sudoSocket = runDir + "/sudo.sock"

// listenSudo lets `user` and root ask.
func (p *process1) listenSudo() error {
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: sudoSocket})
	if err != nil {
		return err
	}
	if err := os.Chmod(sudoSocket, 0o666); err != nil {
		return err
	}
	go p.acceptSudo(l)
	return nil
}

const (
	// maxSudo bounds the commands and questions under way: the descriptors of
	// process 1 are for the whole sandbox.
	maxSudo = 1024
	// acceptPause is the wait after an accept that failed for lack of descriptors.
	acceptPause = 10 * time.Millisecond
)

func (p *process1) acceptSudo(l *net.UnixListener) {
	open := splice.Set{Max: maxSudo}
	for {
		c, err := l.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
		default:
			open.Go(c, func() { p.serveSudo(c) })
		}
	}
}

// serveSudo runs one command for a client and ends it when the client ends.
func (p *process1) serveSudo(c *net.UnixConn) {
	defer c.Close()
	m, files, err := boot.Receive(c)
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	if err != nil || m.Op != boot.OpLaunch || len(files) != 4 {
		return
	}
	if !p.maySudo(c) {
		_ = boot.Send(c, boot.Message{Op: boot.OpRefused, Errno: int(unix.EPERM)})
		return
	}
	process, err := p.launchSudo(files)
	if err != nil {
		_ = boot.Send(c, boot.Message{Op: boot.OpRefused, Errno: errnoOf(err), Error: err.Error()})
		return
	}
	_ = boot.Send(c, boot.Message{Op: boot.OpStarted, Pid: process.Pid()})
	done := make(chan syscall.WaitStatus, 1)
	go func() { done <- process.Wait() }()
	go forwardSignals(c, process.Pid())
	_ = boot.Send(c, boot.Message{Op: boot.OpExited, Status: uint32(<-done)})
}

// forwardSignals sends the client's signals to the command's process group;
// a client that is gone without a word was killed, and so is the command.
func forwardSignals(c *net.UnixConn, pid int) {
	for {
		m, files, err := boot.Receive(c)
		for _, f := range files {
			_ = f.Close()
		}
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				_ = unix.Kill(-pid, unix.SIGKILL)
			}
			return
		}
		if m.Op == boot.OpSignal {
			_ = unix.Kill(-pid, unix.Signal(m.Signal))
		}
	}
}

func (p *process1) maySudo(c *net.UnixConn) bool {
	uid := -1
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			uid = int(cred.Uid)
		}
	})
	return err == nil && (uid == 0 || uid == userID)
}

func (p *process1) launchSudo(files []*os.File) (daemon.Process, error) {
	var o order
	if err := readOrder(files[0], &o); err != nil {
		return nil, err
	}
	user, err := p.sudoUser(o.User)
	if err != nil {
		return nil, err
	}
	return p.launcher.Launch(&daemon.Launch{
		Path: o.Path, Args: o.Args, Env: o.Env, Dir: o.Dir, TTY: o.TTY, User: user,
		Stdin: files[1], Stdout: files[2], Stderr: files[3],
	})
}

// sudoUser finds the account by name or by #id.
func (p *process1) sudoUser(name string) (daemon.User, error) {
	if number, ok := strings.CutPrefix(name, "#"); ok {
		id, err := strconv.Atoi(number)
		if err != nil || id < 0 || id > 65535 {
			return daemon.User{}, daemon.ErrUnknownUser
		}
		if u, err := p.users.Lookup(p.users.NameOf(id)); err == nil && u.UID == id {
			return u, nil
		}
		return daemon.User{Name: number, UID: id, GID: id, Home: "/"}, nil
	}
	return p.users.Lookup(name)
}

package daemon

import (
	"os"
	"runtime"
	"syscall"
)

// Launcher starts one process in a session of its own. Its errors wrap the
// syscall.Errno of the exec that failed.
type Launcher interface {
	Launch(*Launch) (Process, error)
}

// Launch says what to start and how.
type Launch struct {
	// Path is the file to execute; relative ones count from Dir.
	Path string
	// Args is argv, [0] included.
	Args []string
	// Env is the whole environment.
	Env []string
	// Dir is the absolute working directory.
	Dir string
	// User is whom the process runs as.
	User User
	// Stdin, Stdout and Stderr become descriptors 0 to 2. The caller keeps them.
	Stdin, Stdout, Stderr *os.File
	// TTY makes descriptor 0 the controlling terminal.
	TTY bool
}

// Process is a started process.
type Process interface {
	Pid() int
	// Wait blocks until the process has ended. It is called once.
	Wait() syscall.WaitStatus
}

// Direct starts processes as children of this one. The zero value waits for
// each by its pid, which is right unless this process is pid 1.
type Direct struct {
	// Reaper, when set, collects the children (all of them, as pid 1 must).
	Reaper *Reaper
}

// Launch implements Launcher.
func (d Direct) Launch(l *Launch) (Process, error) {
	attr := &syscall.ProcAttr{
		Dir:   l.Dir,
		Env:   l.Env,
		Files: []uintptr{l.Stdin.Fd(), l.Stdout.Fd(), l.Stderr.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: l.TTY, Credential: credential(l.User)},
	}
	start := func() (int, error) {
		defer runtime.KeepAlive(l)
		return syscall.ForkExec(l.Path, l.Args, attr)
	}
	if d.Reaper != nil {
		return d.Reaper.Start(start)
	}
	pid, err := start()
	if err != nil {
		return nil, err
	}
	return child(pid), nil
}

// credential is nil for the user that we already are: changing ids needs a
// privilege that an ordinary process lacks.
func credential(u User) *syscall.Credential {
	if u.UID == os.Geteuid() && u.GID == os.Getegid() {
		return nil
	}
	groups := make([]uint32, 0, len(u.Groups))
	for _, gid := range u.Groups {
		groups = append(groups, uint32(gid))
	}
	return &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID), Groups: groups}
}

// child is a process that is waited for by its pid.
type child int

func (c child) Pid() int { return int(c) }

func (c child) Wait() syscall.WaitStatus {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(int(c), &status, 0, nil)
		if err != syscall.EINTR {
			return status
		}
	}
}

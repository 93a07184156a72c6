//go:build linux

package guest

import (
	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
)

// newLauncher starts processes on the thread whose privileges were dropped,
// and those of `user`, where there is one id, through the user side.
func (p *process1) newLauncher() daemon.Launcher {
	reaper := daemon.NewReaper()
	go reaper.Run(nil)
	l := &launcher{data: p.cfg.DataBytes, thread: p.thread, victims: p.victims, direct: daemon.Direct{Reaper: reaper}}
	if p.userSide != nil {
		l.user = p.userSide
	}
	return l
}

type launcher struct {
	thread  *thread
	victims *victims
	direct  daemon.Direct
	// data bounds the memory of each process; 0 = no bound.
	data int64
	// user starts what does not run as root; nil is direct.
	user daemon.Launcher
}

// Launch implements daemon.Launcher.
func (l *launcher) Launch(x *daemon.Launch) (process daemon.Process, err error) {
	if l.user != nil && x.User.UID != 0 {
		return l.user.Launch(x)
	}
	l.thread.do(func() {
		l.victims.during(func() { process, err = l.direct.Launch(x) })
	})
	if err == nil {
		boundData(process.Pid(), l.data)
	}
	return process, err
}

// boundData bounds the memory of a process that was just started, and of
// those that it starts. What may not be bounded is not.
func boundData(pid int, bytes int64) {
	if bytes > 0 {
		l := unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &l, nil)
	}
}

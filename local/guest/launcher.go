//go:build linux

package guest

import (
	"github.com/agent-sandbox/agent-sandbox/local/daemon"
)

// newLauncher starts processes on the thread whose privileges were dropped,
// and those of `user`, where there is one id, through the user side.
func (p *process1) newLauncher() daemon.Launcher {
	reaper := daemon.NewReaper()
	go reaper.Run(nil)
	l := &launcher{thread: p.thread, victims: p.victims, direct: daemon.Direct{Reaper: reaper}}
	if p.userSide != nil {
		l.user = p.userSide
	}
	return l
}

type launcher struct {
	thread  *thread
	victims *victims
	direct  daemon.Direct
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
	return process, err
}

//go:build linux

package isolation

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces are those of a sandbox, with the plot's ids mapped into them.
func (p *plot) namespaces() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Setsid: true,
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP,
	}
	if p.ids == nil {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
		return a
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: p.ids.base, Size: rangeLen}}
	a.GidMappings, a.GidMappingsEnableSetgroups = a.UidMappings, true
	a.Credential = &syscall.Credential{Uid: 0, Gid: 0}
	return a
}

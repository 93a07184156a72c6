//go:build linux

package isolation

import (
	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// rlimits stand in for the control groups that could not be had.
func (s *starting) rlimits() []boot.Rlimit {
	// 1 rather than 0: only that also keeps the kernel from feeding a crash to
	// the host's own core dump program.
	list := []boot.Rlimit{{Resource: unix.RLIMIT_CORE, Value: 1}}
	for i := range s.box.limits {
		l := &s.box.limits[i]
		if l.Enforced {
			continue
		}
		switch l.Name {
		case "pids":
			list = append(list, boot.Rlimit{Resource: unix.RLIMIT_NPROC, Value: uint64(s.spec.Pids)})
			l.Enforced, l.Why = true, "RLIMIT_NPROC: "+l.Why
		case "memory":
			// Not process 1 itself: a Go program maps far more than it uses.
			s.config.DataBytes = s.box.memory
			l.Why = "each process alone is limited (RLIMIT_DATA): " + l.Why
		}
	}
	return list
}

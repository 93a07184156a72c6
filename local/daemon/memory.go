package daemon

import (
	"syscall"

	processpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// killedStatus is how a shell exits whose last command got SIGKILL.
const killedStatus = 128 + int(syscall.SIGKILL)

// outOfMemory is the reason of an end that the system brought about.
const outOfMemory = "the sandbox ran out of memory"

// explain adds why a command was killed, where the system did it: it ended by
// SIGKILL, or as a shell whose child did, and since it began the system has killed
// processes of this sandbox for want of memory.
func (c *command) explain(end *processpb.ProcessEvent_EndEvent, status syscall.WaitStatus, kills int64) {
	killed := status.Signaled() && status.Signal() == syscall.SIGKILL || status.ExitStatus() == killedStatus
	if !killed || kills <= c.oomKills {
		return
	}
	text := end.Status + ": " + outOfMemory
	end.Error = &text
}

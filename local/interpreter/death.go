package interpreter

import (
	"fmt"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// deathError says how a kernel ended that was not told to.
type deathError struct {
	reason string
	// said is the end of what its process wrote to stderr.
	said string
}

func (e *deathError) Error() string { return e.reason }

// memoryKill tells whether the system killed a process for want of memory.
type memoryKill int

const (
	memoryKillUnknown memoryKill = iota
	memoryKillYes
	memoryKillNo
)

// reason is what it says about a process that got a SIGKILL.
func (m memoryKill) reason() string {
	switch m {
	case memoryKillYes:
		return ": the sandbox ran out of memory"
	case memoryKillNo:
		return ""
	}
	return ": most likely the sandbox ran out of memory"
}

// memoryKilled tells whether the system has killed processes since the kernel began.
func (k *kernel) memoryKilled() memoryKill {
	switch {
	case k.oomKills == nil:
		return memoryKillUnknown
	case k.oomKills() > k.oomKillsBefore:
		return memoryKillYes
	}
	return memoryKillNo
}

// died words the end of a process.
func died(status syscall.WaitStatus, said string, memory memoryKill) *deathError {
	e := &deathError{said: strings.TrimSpace(said)}
	switch signal := status.Signal(); {
	case !status.Signaled():
		e.reason = fmt.Sprintf("the kernel's process exited with code %d", status.ExitStatus())
	case signal == syscall.SIGKILL:
		e.reason = "the kernel's process was killed (SIGKILL)" + memory.reason()
	case signal == syscall.SIGSEGV:
		e.reason = "the kernel's process crashed (SIGSEGV, segmentation fault)"
	default:
		e.reason = fmt.Sprintf("the kernel's process was ended by %s (%v)", unix.SignalName(signal), signal)
	}
	return e
}

// tail keeps the end of what is written to it. The zero value is ready.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// tailSize is how much of a kernel's stderr is worth keeping, in bytes.
const tailSize = 4 << 10

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - tailSize; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.b), "\ufffd")
}

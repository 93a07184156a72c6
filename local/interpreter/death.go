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

// memoryKills counts the processes that the system killed for want of memory, and
// those of them that were kernels: what killed one is not what killed the next.
type memoryKills struct {
	// count is that of the options; nil when nobody knows.
	count func() int64

	mu sync.Mutex
	// told is how many have been put down to a kernel, or were before that.
	told int64
}

// sofar is how many there have been.
func (m *memoryKills) sofar() int64 {
	if m.count == nil {
		return 0
	}
	return m.count()
}

// take tells whether there has been one since then that is nobody else's.
func (m *memoryKills) take(since int64) memoryKill {
	if m.count == nil {
		return memoryKillUnknown
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from := max(since, m.told)
	if m.count() <= from {
		return memoryKillNo
	}
	m.told = from + 1
	return memoryKillYes
}

// killer tells who killed a kernel that has just ended.
func (k *kernel) killer() memoryKill {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cause != nil || !k.status.Signaled() || k.status.Signal() != syscall.SIGKILL {
		return memoryKillUnknown
	}
	return k.kills.take(k.killsBefore)
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

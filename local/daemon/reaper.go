package daemon

import (
	"sync"
	"syscall"
)

// Reaper collects every child of the process, as pid 1 has to: those that it
// started and orphans alike. Everything in that process must be started through
// it: a wait elsewhere would lose its child to the reaper. Make it with
// NewReaper and let Run run.
type Reaper struct {
	mu      sync.Mutex
	waiting map[int]*reaped
	started chan struct{}
}

// NewReaper makes a reaper.
func NewReaper() *Reaper {
	return &Reaper{waiting: make(map[int]*reaped), started: make(chan struct{}, 1)}
}

// Start runs start, which returns the pid of a new child, so that the child
// cannot be collected before it is known.
func (r *Reaper) Start(start func() (pid int, err error)) (Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := start()
	if err != nil {
		return nil, err
	}
	p := &reaped{pid: pid, status: make(chan syscall.WaitStatus, 1)}
	r.waiting[pid] = p
	select {
	case r.started <- struct{}{}:
	default:
	}
	return p, nil
}

// Run collects children until stop is closed and no child is left to wait for.
func (r *Reaper) Run(stop <-chan struct{}) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch err {
		case nil:
			r.settle(pid, status)
		case syscall.EINTR:
		default:
			// No child at all, so no orphan can come either: only a start can.
			select {
			case <-r.started:
			case <-stop:
				return
			}
		}
	}
}

func (r *Reaper) settle(pid int, status syscall.WaitStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ours := r.waiting[pid]; ours {
		delete(r.waiting, pid)
		p.status <- status
	}
}

// reaped is a process that the reaper waits for.
type reaped struct {
	pid    int
	status chan syscall.WaitStatus
}

func (p *reaped) Pid() int { return p.pid }

func (p *reaped) Wait() syscall.WaitStatus { return <-p.status }

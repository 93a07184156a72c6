//go:build linux

package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// runInit is process 1. It ends when the host side's end of the control
// socket does, whatever the reason: the sandbox never outlives its server.
func runInit(s Service) int {
	// Capabilities belong to a thread: everything that needs them, and
	// every start of a command, happens on this one.
	runtime.LockOSThread()
	nameProcess(boot.InitName)
	// What commands inherit.
	unix.Umask(0o022)
	surviveSignals()
	if closeInherited() != nil {
		return 1
	}
	control, err := boot.Conn(os.NewFile(boot.ControlFD, "control"))
	if err != nil {
		return 1
	}
	p := &process1{self: "/proc/self/exe", control: control, thread: newThread()}
	staged, err := p.receive()
	if err != nil {
		return 1
	}
	if err := errors.Join(staged, p.boot(s)); err != nil {
		_ = boot.Send(control, failure(err))
		return 1
	}
	go p.serveControl()
	p.thread.serve()
	return 0
}

// receive waits for the boot message, and before it does what an OpStage asks
// for; staged is how that went.
func (p *process1) receive() (staged, err error) {
	m, files, err := boot.Receive(p.control)
	if err == nil && m.Op == boot.OpStage {
		if len(files) > 0 {
			if p.cfg, p.trees, err = readConfig(files); err != nil {
				return nil, err
			}
			staged = step("mounts", p.stageRoot())
		}
		daemon.Warm()
		m, files, err = boot.Receive(p.control)
	}
	if err != nil {
		return nil, err
	}
	if m.Op != boot.OpBoot {
		return nil, errors.New("no boot message")
	}
	p.cfg, p.trees, err = readConfig(files)
	return staged, err
}

func readConfig(files []*os.File) (*boot.Config, trees, error) {
	if len(files) == 0 {
		return nil, nil, errors.New("no configuration")
	}
	defer files[0].Close()
	b, err := io.ReadAll(io.NewSectionReader(files[0], 0, 1<<30))
	if err != nil {
		return nil, nil, err
	}
	cfg := new(boot.Config)
	if err := json.Unmarshal(b, cfg); err != nil {
		return nil, nil, err
	}
	if len(cfg.FDs) != len(files)-1 {
		return nil, nil, errors.New("descriptors and names differ")
	}
	t := trees{}
	for i, name := range cfg.FDs {
		t[name] = files[i+1]
	}
	return cfg, t, nil
}

// stepError says at which step the boot failed.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func step(name string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{step: name, err: err}
}

func failure(err error) boot.Message {
	m := boot.Message{Op: boot.OpFailed, Error: err.Error()}
	var s *stepError
	if errors.As(err, &s) {
		m.Step, m.Error = s.step, s.err.Error()
	}
	var n syscall.Errno
	if errors.As(err, &n) {
		m.Errno = int(n)
	}
	return m
}

// steps runs named steps until one fails.
func steps(list ...namedStep) error {
	for _, s := range list {
		if err := s.do(); err != nil {
			return step(s.name, err)
		}
	}
	return nil
}

type namedStep struct {
	name string
	do   func() error
}

// nameProcess is what ps shows; the kernel took the number of a descriptor.
func nameProcess(name string) {
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0)
}

// surviveSignals keeps a `kill -TERM 1` from inside from ending the sandbox. They
// are caught, not ignored: commands would inherit that.
func surviveSignals() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGABRT)
}

func setRlimits(list []boot.Rlimit) error {
	for _, r := range list {
		l := unix.Rlimit{Cur: r.Value, Max: r.Value}
		if err := unix.Setrlimit(r.Resource, &l); err != nil {
			return fmt.Errorf("resource %d: %w", r.Resource, err)
		}
	}
	return nil
}

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/native"
)

// program is this test binary as sandboxc, with a state of its own.
type program struct {
	t    *testing.T
	home string
	path string
	as   *syscall.Credential // nil = this user
}

func newProgram(t *testing.T) *program {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p := &program{t: t, home: t.TempDir(), path: self}
	t.Cleanup(func() { stopServers(t, p.state()) })
	return p
}

func (p *program) state() string {
	return native.StateDir(func(name string) string { return map[string]string{"XDG_STATE_HOME": p.home}[name] })
}

// command is sandboxc with arguments. argv[0] tells the test binary what it is.
func (p *program) command(args ...string) *exec.Cmd {
	cmd := &exec.Cmd{
		Path: p.path, Args: append([]string{"sandboxc"}, args...), Dir: p.home,
		Env:         []string{"HOME=" + p.home, "XDG_STATE_HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"},
		SysProcAttr: &syscall.SysProcAttr{Credential: p.as},
	}
	p.t.Cleanup(func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	})
	return cmd
}

// output runs sandboxc and gives both streams and the exit code.
func (p *program) output(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	var out, errs bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(p.t, cmd.Start())
	return p.ended(cmd, &out, &errs)
}

func (p *program) ended(cmd *exec.Cmd, out, errs *bytes.Buffer) (string, string, int) {
	p.t.Helper()
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		p.t.Fatalf("sandboxc %v does not end", cmd.Args)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// leavesNothing tells that no sandbox of this program is left on the machine.
func (p *program) leavesNothing() {
	p.t.Helper()
	left, _ := filepath.Glob(filepath.Join(p.state(), "boxes", "sandboxc-*"))
	require.Empty(p.t, left, "directories of sandboxes")
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(p.t, err)
	require.NotContains(p.t, string(mounts), p.state())
}

// screen is a terminal on which sandboxc runs.
type screen struct {
	t   *testing.T
	pty *os.File
	cmd *exec.Cmd

	mu   sync.Mutex
	text bytes.Buffer
	done chan struct{}
}

func (p *program) onScreen(args ...string) *screen {
	p.t.Helper()
	cmd := p.command(args...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 91, Rows: 37})
	require.NoError(p.t, err)
	s := &screen{t: p.t, pty: f, cmd: cmd, done: make(chan struct{})}
	p.t.Cleanup(func() { _ = f.Close() })
	go s.read()
	return s
}

func (s *screen) read() {
	defer close(s.done)
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.text.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *screen) shows(text string) {
	s.t.Helper()
	require.True(s.t, within(20*time.Second, func() bool { return strings.Contains(s.shown(), text) }), "no %q on the screen:\n%s", text, s.shown())
}

func (s *screen) types(text string) {
	s.t.Helper()
	_, err := s.pty.WriteString(text)
	require.NoError(s.t, err)
}

// ends waits for the end and gives the exit code.
func (s *screen) ends() int {
	s.t.Helper()
	done := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		s.t.Fatalf("it does not end:\n%s", s.shown())
	}
	<-s.done
	return s.cmd.ProcessState.ExitCode()
}

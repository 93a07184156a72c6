package main

import (
	"bytes"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// started runs sandboxc until the command inside says "ready".
func (p *program) started(args ...string) (signal func(syscall.Signal), ends func() (string, int)) {
	p.t.Helper()
	out, errs := &safeBuffer{}, &bytes.Buffer{}
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = out, errs
	require.NoError(p.t, cmd.Start())
	require.True(p.t, within(20*time.Second, func() bool { return strings.Contains(out.String(), "ready") }), "%s%s", out, errs)
	return func(s syscall.Signal) { require.NoError(p.t, cmd.Process.Signal(s)) }, func() (string, int) {
		_, _, code := p.ended(cmd, &bytes.Buffer{}, errs)
		return out.String(), code
	}
}

const (
	obeys  = `trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.05; done`
	ignore = `trap '' TERM INT HUP; echo ready; exec sleep 987`
)

// hearHangups lets what the test starts hear them also where the test itself was
// started with nohup: a caught signal is not passed on as ignored.
func hearHangups(t *testing.T) {
	t.Helper()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
}

func TestFirstSignalReachesTheCommand(t *testing.T) {
	needRoot(t)
	hearHangups(t)
	p := newProgram(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			signal, ends := p.started("run", "--", "sh", "-c", obeys)
			signal(s)
			out, code := ends()
			require.Equal(t, "ready\ntold\n", out)
			require.Equal(t, 5, code)
			p.leavesNothing()
		})
	}
}

func TestSecondSignalKills(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	id, _, _ := p.output("create", "-q")
	id = strings.TrimSpace(id)
	for name, args := range map[string][]string{"run": {"run"}, "exec": {"exec", id}} {
		t.Run(name, func(t *testing.T) {
			signal, ends := p.started(append(args, "--", "sh", "-c", ignore)...)
			signal(syscall.SIGINT)
			time.Sleep(300 * time.Millisecond)
			signal(syscall.SIGINT)
			_, code := ends()
			require.Equal(t, 130, code)
		})
	}
	// The command of exec is dead too, and its sandbox lives.
	out, errs, code := p.output("exec", id, "--", "sh", "-c", "cat /proc/[0-9]*/comm")
	require.Equal(t, 0, code, errs)
	require.NotContains(t, out, "sleep")
}

func TestSignalDuringTheStartLeavesNothing(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	for _, after := range []time.Duration{5, 20, 40, 60, 80, 120} {
		var out, errs bytes.Buffer
		cmd := p.command("run", "--", "sleep", "1000")
		cmd.Stdout, cmd.Stderr = &out, &errs
		require.NoError(t, cmd.Start())
		time.Sleep(after * time.Millisecond)
		_ = cmd.Process.Signal(os.Interrupt)
		time.Sleep(500 * time.Millisecond)
		_ = cmd.Process.Signal(os.Interrupt)
		_, _, code := p.ended(cmd, &out, &errs)
		require.Contains(t, []int{-1, 130, 143}, code, errs.String())
		p.leavesNothing()
	}
}

func TestKilledRunIsSweptByTheNext(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	signal, ends := p.started("run", "--", "sh", "-c", obeys)
	signal(syscall.SIGKILL)
	_, _ = ends()
	out, _, code := p.output("run", "--", "echo", "next")
	require.Equal(t, "next\n", out)
	require.Equal(t, 0, code)
	p.leavesNothing()
}

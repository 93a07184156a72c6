package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestShellHasTheTerminalsSizeAndFollowsIt(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	id, _, _ := p.output("create", "-q")
	s := p.onScreen("shell", strings.TrimSpace(id))
	s.types("stty size; echo $TERM\n")
	s.shows("37 91")
	s.shows("\r\nxterm-256color")
	require.NoError(t, pty.Setsize(s.pty, &pty.Winsize{Cols: 101, Rows: 41}))
	require.True(t, within(10*time.Second, func() bool {
		s.types("stty size\n")
		time.Sleep(100 * time.Millisecond)
		return strings.Contains(s.shown(), "41 101")
	}))
	// The key goes inside and interrupts there; nothing ends here.
	s.types("sleep 100\n")
	time.Sleep(200 * time.Millisecond)
	s.types("\x03")
	s.types("echo still-$((1+1))\n")
	s.shows("still-2")
	s.types("exit 5\n")
	require.Equal(t, 5, s.ends())
}

func TestRunWithTerminal(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	s := p.onScreen("run", "-it", "--", "sh", "-c", "test -t 0 && test -t 1 && echo both; read x; echo got $x; exit 9")
	s.shows("both")
	s.types("word\r")
	s.shows("got word")
	require.Equal(t, 9, s.ends())
	// On a terminal one dim line sums up.
	require.Regexp(t, `\x1b\[2mlocal · isolation namespaces · created in [0-9.]+m?s · ran for [0-9.]+m?s`, s.shown())
	p.leavesNothing()
}

func TestTerminalIsGivenBackInAnyCase(t *testing.T) {
	needRoot(t)
	hearHangups(t)
	for name, sig := range map[string]syscall.Signal{"terminated": syscall.SIGTERM, "hung up": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			s := p.onScreen("run", "-it", "--", "sh", "-c", "echo ready; exec sleep 1000")
			before := modes(t, s)
			s.shows("ready")
			require.NotEqual(t, before.Lflag&unix.ICANON, modes(t, s).Lflag&unix.ICANON, "raw while it runs")
			require.NoError(t, s.cmd.Process.Signal(sig))
			require.Equal(t, 128+int(sig), s.ends())
			p.leavesNothing()
		})
	}
}

func modes(t *testing.T, s *screen) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(s.pty.Fd()), unix.TCGETS)
	require.NoError(t, err)
	return *m
}

func TestRunOnATerminalLeavesStdinAlone(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	s := p.onScreen("run", "--", "sh", "-c", "cat; echo end")
	s.shows("end")
	require.Equal(t, 0, s.ends())
}

func TestPipedTerminalEndsWithItsInput(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	for name, input := range map[string]string{"whole line": "abc\n", "open line": "abc"} {
		t.Run(name, func(t *testing.T) {
			cmd := p.command("run", "-t", "--", "cat")
			cmd.Stdin = strings.NewReader(input)
			out, err := cmd.Output()
			require.NoError(t, err)
			require.Contains(t, string(out), "abc")
		})
	}
}

func TestProgressIsShownOnATerminalOnly(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	id, _, _ := p.output("create", "-q")
	id = strings.TrimSpace(id)
	require.NoError(t, os.WriteFile(filepath.Join(p.home, "big"), make([]byte, 20<<20), 0o600))
	s := p.onScreen("cp", "big", id+":")
	require.Equal(t, 0, s.ends())
	require.Contains(t, s.shown(), "20.0 MiB / 20.0 MiB")
	s = p.onScreen("-q", "cp", id+":big", "back")
	require.Equal(t, 0, s.ends())
	require.Empty(t, s.shown())
	out, errs, code := p.output("cp", id+":big", "again")
	require.Equal(t, 0, code)
	require.Empty(t, out+errs)
}

func TestShellRefusesJSON(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	out, _, code := p.output("shell", "--json", "iabc")
	require.Equal(t, 125, code)
	require.Contains(t, out, `"code":"E8000"`)
}

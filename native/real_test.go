//go:build linux

package native_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/local"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// These tests drive the Go client against real sandboxes of the local provider,
// whose first process is this test binary itself (see TestMain).

// real is one server for all tests of a run.
type real struct {
	client *native.Client
	info   native.ServerInfo
}

// serve starts a server in this process.
func serve(t *testing.T) *real {
	t.Helper()
	dir, err := os.MkdirTemp("", "nat")
	require.NoError(t, err)
	server, err := local.New(t.Context(), local.Options{StateDir: dir, APIKey: "key-of-the-test"})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	url := "http://" + l.Addr().String()
	r := &real{info: native.ServerInfo{URL: url, SandboxURL: url, APIKey: "key-of-the-test"}}
	r.client, err = native.NewClient(t.Context(), native.Options{Arguments: setting.Arguments{Provider: "local"}, Server: &r.info})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, r.client.Close())
		require.NoError(t, server.Close())
		require.NoError(t, <-done)
		require.NoError(t, os.RemoveAll(dir))
	})
	return r
}

func (r *real) sandbox(t *testing.T) *native.Sandbox {
	t.Helper()
	s, err := r.client.Create(t.Context(), core.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = s.Kill(context.WithoutCancel(t.Context())) })
	return s
}

func soak(full, reduced int) int {
	if os.Getenv("SOAK") != "" {
		return full
	}
	return reduced
}

func TestRealSandbox(t *testing.T) {
	r := serve(t)
	t.Run("a background process is followed, attached and ended", func(t *testing.T) { background(t, r.sandbox(t)) })
	t.Run("no callback begins after a disconnect", func(t *testing.T) { disconnected(t, r.sandbox(t)) })
	t.Run("ending the wait leaves the process alone", func(t *testing.T) { waitOnly(t, r.sandbox(t)) })
	t.Run("cancelling a run kills it", func(t *testing.T) { cancelKills(t, r.sandbox(t)) })
	t.Run("a start that is cancelled leaves nothing, whenever", func(t *testing.T) { cancelledStarts(t, r.sandbox(t)) })
	t.Run("a timeout ends the whole group and keeps the output", func(t *testing.T) { timeoutKills(t, r.sandbox(t)) })
	t.Run("stdin of many megabytes arrives exactly", func(t *testing.T) { bigStdin(t, r.sandbox(t)) })
	t.Run("a command ends while its stdin stays open", func(t *testing.T) { openStdin(t, r.sandbox(t)) })
	t.Run("a failing writer ends the command", func(t *testing.T) { closedStdout(t, r.sandbox(t)) })
	t.Run("a terminal types, resizes and ends", func(t *testing.T) { terminal(t, r.sandbox(t)) })
	t.Run("a watch sees a tree grow", func(t *testing.T) { watching(t, r.sandbox(t)) })
	t.Run("a tree goes up and comes down as it was", func(t *testing.T) { trees(t, r.sandbox(t)) })
	t.Run("links of a sandbox lead nowhere outside", func(t *testing.T) { hostileLinks(t, r.sandbox(t)) })
	t.Run("many commands at once mix nothing up", func(t *testing.T) { manyCommands(t, r.sandbox(t)) })
	t.Run("one command on each of many sandboxes", func(t *testing.T) { manySandboxes(t, r) })
	t.Run("a handle travels as JSON", func(t *testing.T) { handleTravels(t, r) })
	t.Run("a command that memory runs out for says so", func(t *testing.T) { outOfMemory(t, r) })
	t.Run("pause under a shell loses nothing", func(t *testing.T) { pausedShell(t, r.sandbox(t)) })
}

func background(t *testing.T, s *native.Sandbox) {
	var out strings.Builder
	var mu sync.Mutex
	keep := core.RunOptions{Stdin: true, OnStdoutText: func(text string) { mu.Lock(); out.WriteString(text); mu.Unlock() }}
	p, err := s.Commands.Start(t.Context(), "while read line; do echo got:$line; done; echo over", keep)
	require.NoError(t, err)
	require.NotZero(t, p.PID())
	sel := core.Selector{PID: p.PID()}
	require.NoError(t, s.Commands.SendStdin(t.Context(), sel, []byte("one\n")))
	second, err := s.Commands.Attach(t.Context(), sel, core.RunOptions{})
	require.NoError(t, err)
	require.NoError(t, s.Commands.SendStdin(t.Context(), sel, []byte("two\n")))
	require.NoError(t, s.Commands.CloseStdin(t.Context(), sel))
	result, err := p.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, "got:one\ngot:two\nover\n", result.Stdout())
	require.Equal(t, result.Stdout(), out.String())
	attached, err := second.Wait(t.Context())
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(attached.Stdout(), "got:two\nover\n"), attached.Stdout())
	gone, err := p.Kill(t.Context())
	require.NoError(t, err)
	require.False(t, gone)
}

func disconnected(t *testing.T, s *native.Sandbox) {
	var mu sync.Mutex
	left, late := false, false
	p, err := s.Commands.Start(t.Context(), "while :; do echo x; done", core.RunOptions{DiscardOutput: true, OnStdout: func([]byte) {
		mu.Lock()
		late = late || left
		mu.Unlock()
	}})
	require.NoError(t, err)
	p.Disconnect()
	mu.Lock()
	left = true
	mu.Unlock()
	<-p.Done()
	require.False(t, late)
	_, err = p.Wait(t.Context())
	require.Equal(t, core.CodeCancelled, core.CodeOf(err))
	killed, err := p.Kill(t.Context())
	require.NoError(t, err)
	require.True(t, killed, "the process must have lived on")
}

func waitOnly(t *testing.T, s *native.Sandbox) {
	p, err := s.Commands.Start(t.Context(), "sleep 60", core.RunOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = p.Wait(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	killed, err := p.Kill(t.Context())
	require.NoError(t, err)
	require.True(t, killed)
	result, err := p.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, 137, result.ExitCode)
	require.Equal(t, "killed", result.Signal)
}

func cancelKills(t *testing.T, s *native.Sandbox) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Commands.Run(ctx, "sleep 61 & sleep 62", core.RunOptions{OnStart: func(uint32) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, core.CodeCancelled, core.CodeOf(err))
	require.Empty(t, running(t, s, "sleep"))
}

func cancelledStarts(t *testing.T, s *native.Sandbox) {
	n := soak(2000, 80)
	started := 0
	for i := range n {
		ctx, cancel := context.WithCancel(t.Context())
		stop := time.AfterFunc(time.Duration(i)*8*time.Millisecond/time.Duration(n), cancel)
		p, err := s.Commands.Start(ctx, "exec sleep 63", core.RunOptions{})
		if i%4 == 3 && err != nil {
			var term *native.Terminal
			if term, err = s.Pty.Create(ctx, core.PtyOptions{Size: core.Size{Cols: 80, Rows: 24}, Argv: []string{"sleep", "64"}}); err == nil {
				p = term.Process
			}
		}
		if err == nil {
			started++
			_, err = p.Kill(t.Context())
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, context.Canceled)
		}
		stop.Stop()
		cancel()
	}
	t.Logf("%d of %d had started", started, n)
	require.Empty(t, running(t, s, "sleep"))
	list, err := s.Commands.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)
}

// running waits shortly for programs of a name to be gone, and gives what is left.
func running(t *testing.T, s *native.Sandbox, name string) string {
	t.Helper()
	var left string
	for range 50 {
		r, err := s.Commands.Exec(t.Context(), []string{"pgrep", "-x", name}, core.RunOptions{User: "root"})
		require.NoError(t, err)
		if left = r.Stdout(); left == "" {
			return ""
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

func timeoutKills(t *testing.T, s *native.Sandbox) {
	limit := 300 * time.Millisecond
	began := time.Now()
	_, err := s.Commands.Run(t.Context(), "echo before; sleep 63 & sleep 64", core.RunOptions{Timeout: &limit})
	require.Less(t, time.Since(began), 3*time.Second)
	var e *core.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, core.CodeCommandTimeout, e.Code)
	require.True(t, e.Killed)
	require.Equal(t, limit, e.Limit)
	require.Equal(t, "before\n", e.Partial.(*core.CommandResult).Stdout())
	require.Empty(t, running(t, s, "sleep"))
}

// pattern gives n bytes that differ everywhere.
type pattern struct{ left, at int }

func (p *pattern) Read(b []byte) (int, error) {
	n := min(len(b), p.left)
	for i := range b[:n] {
		b[i] = byte((p.at + i) * 2654435761 >> 13)
	}
	p.left, p.at = p.left-n, p.at+n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func bigStdin(t *testing.T, s *native.Sandbox) {
	size := 50 << 20
	sum := sha256.New()
	_, _ = io.Copy(sum, &pattern{left: size})
	var out strings.Builder
	result, err := s.Commands.Pipe(t.Context(), []string{"sha256sum"}, native.Stdio{Stdin: &pattern{left: size}, Stdout: &out}, core.RunOptions{})
	require.NoError(t, err)
	require.Zero(t, result.ExitCode)
	require.Equal(t, hex.EncodeToString(sum.Sum(nil))+"  -\n", out.String())
}

func openStdin(t *testing.T, s *native.Sandbox) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = w.Close() }()
	var out strings.Builder
	began := time.Now()
	_, err = s.Commands.Pipe(t.Context(), []string{"echo", "hi"}, native.Stdio{Stdin: r, Stdout: &out}, core.RunOptions{})
	require.NoError(t, err)
	require.Equal(t, "hi\n", out.String())
	require.Less(t, time.Since(began), 5*time.Second)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func closedStdout(t *testing.T, s *native.Sandbox) {
	_, err := s.Commands.Pipe(t.Context(), []string{"yes"}, native.Stdio{Stdout: broken{}}, core.RunOptions{})
	require.ErrorIs(t, err, os.ErrClosed)
	require.Empty(t, running(t, s, "yes"))
}

func terminal(t *testing.T, s *native.Sandbox) {
	seen := &screen{}
	term, err := s.Pty.Create(t.Context(), core.PtyOptions{Size: core.Size{Cols: 91, Rows: 33}, RunOptions: core.RunOptions{OnPTY: seen.write}})
	require.NoError(t, err)
	require.NoError(t, term.SendInput(t.Context(), []byte("stty size; echo $TERM:$LANG\n")))
	seen.waitFor(t, "33 91")
	seen.waitFor(t, "xterm-256color:C.UTF-8")
	require.NoError(t, term.Resize(t.Context(), core.Size{Cols: 50, Rows: 20}))
	require.NoError(t, term.SendInput(t.Context(), []byte("stty size; exit 3\n")))
	seen.waitFor(t, "20 50")
	result, err := term.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, result.ExitCode)
}

type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) write(b []byte) { s.mu.Lock(); defer s.mu.Unlock(); s.text.Write(b) }

func (s *screen) waitFor(t *testing.T, want string) {
	t.Helper()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Contains(s.text.String(), want)
	}, 10*time.Second, 5*time.Millisecond, "%q never came", want)
}

func watching(t *testing.T, s *native.Sandbox) {
	_, err := s.Files.MakeDir(t.Context(), "w", core.FileOptions{})
	require.NoError(t, err)
	var mu sync.Mutex
	created := map[string]int{}
	w, err := s.Files.WatchDir(t.Context(), "w", core.WatchOptions{Recursive: true}, func(e core.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Type == core.EventCreate {
			created[e.Name]++
		}
	})
	require.NoError(t, err)
	_, err = s.Commands.Run(t.Context(), "mkdir -p w/a/b/c && touch w/a/b/c/f", core.RunOptions{})
	require.NoError(t, err)
	want := map[string]int{"a": 1, "a/b": 1, "a/b/c": 1, "a/b/c/f": 1}
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(created) >= len(want) }, 5*time.Second, 10*time.Millisecond)
	w.Stop()
	require.NoError(t, w.Err())
	require.Equal(t, want, created)
}

// checked runs one command whose last line of stderr is the checksum of its own
// output, so that a byte of another command would show.
func checked(ctx context.Context, s *native.Sandbox) error {
	r, err := s.Commands.Run(ctx, "f=$(mktemp); head -c 150000 /dev/urandom | base64 -w 77 >$f; cat $f; sha256sum <$f >&2", core.RunOptions{})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(r.StdoutBytes)
	if want := hex.EncodeToString(sum[:]) + "  -\n"; r.Stderr() != want {
		return fmt.Errorf("the checksum is %q, not %q", r.Stderr(), want)
	}
	return nil
}

func manyCommands(t *testing.T, s *native.Sandbox) {
	together(t, soak(100, 30), func() error { return checked(t.Context(), s) })
}

func manySandboxes(t *testing.T, r *real) {
	together(t, soak(100, 10), func() error {
		s, err := r.client.Create(t.Context(), core.CreateOptions{})
		if err != nil {
			return err
		}
		defer func() { _, _ = s.Kill(context.WithoutCancel(t.Context())) }()
		return checked(t.Context(), s)
	})
}

func together(t *testing.T, n int, do func() error) {
	t.Helper()
	errs := make(chan error, n)
	for range n {
		go func() { errs <- do() }()
	}
	for range n {
		require.NoError(t, <-errs)
	}
}

func handleTravels(t *testing.T, r *real) {
	s := r.sandbox(t)
	h := s.Handle()
	text, err := h.ToJSON()
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", h, h, h, s), h.Tokens.Envd)
	opened := reopen(t, r, text)
	out, err := opened.Commands.Run(t.Context(), "echo same", core.RunOptions{})
	require.NoError(t, err)
	require.Equal(t, "same\n", out.Stdout())
}

func outOfMemory(t *testing.T, r *real) {
	s, err := r.client.Create(t.Context(), core.CreateOptions{MemoryMB: 128})
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = s.Kill(context.WithoutCancel(t.Context())) })
	const reason = ": the sandbox ran out of memory"
	said := func(command string) string {
		_, err := s.Commands.Run(t.Context(), command, core.RunOptions{Check: true})
		require.Error(t, err)
		return fault.As(err).Message
	}
	first := said("exec dd if=/dev/zero of=/dev/null bs=400M count=1")
	if first == "the command exited with 1" {
		t.Skip("memory is limited for each process: its allocations fail instead")
	}
	require.Equal(t, "the command was killed by a signal (killed)"+reason, first)
	require.Equal(t, "the command exited with 137"+reason, said("dd if=/dev/zero of=/dev/null bs=400M count=1; exit $?"))
	require.Equal(t, "the command was killed by a signal (killed)", said("kill -9 $$"), "that was not the memory")
	require.Equal(t, "the command exited with 137", said("exit 137"))
}

func pausedShell(t *testing.T, s *native.Sandbox) {
	seen := &screen{}
	term, err := s.Pty.Create(t.Context(), core.PtyOptions{Size: core.Size{Cols: 80, Rows: 24}, RunOptions: core.RunOptions{OnPTY: seen.write}})
	require.NoError(t, err)
	require.NoError(t, term.SendInput(t.Context(), []byte("for i in 1 2 3 4 5 6; do echo tick$i; sleep 0.2; done; echo end$((40+2))\n")))
	seen.waitFor(t, "tick2\r")
	paused, err := s.Pause(t.Context(), core.PauseOptions{})
	require.NoError(t, err)
	require.True(t, paused)
	again, err := s.Pause(t.Context(), core.PauseOptions{})
	require.NoError(t, err)
	require.False(t, again)
	require.NoError(t, s.Resume(t.Context(), core.ConnectOptions{}))
	seen.waitFor(t, "end42")
	for i := range 6 {
		seen.waitFor(t, fmt.Sprintf("tick%d\r", i+1))
	}
	_, err = term.Kill(t.Context())
	require.NoError(t, err)
}

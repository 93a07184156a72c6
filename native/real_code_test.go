//go:build linux

package native_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// kernels is an environment with Jupyter kernels: AGENT_SANDBOX_KERNELS, or one
// that is made in the tree.
func kernels(t *testing.T) string {
	t.Helper()
	if given := os.Getenv("AGENT_SANDBOX_KERNELS"); given != "" {
		return given
	}
	out, err := exec.Command("../scripts/kernel-tools").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func (r *real) coding(t *testing.T) *native.Sandbox {
	t.Helper()
	s, err := r.client.Create(t.Context(), core.CreateOptions{
		Envs:   map[string]string{"PATH": "/mnt/kernels/bin:/usr/bin:/bin"},
		Mounts: []core.Mount{{Source: kernels(t), Target: "/mnt/kernels"}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = s.Kill(context.WithoutCancel(t.Context())) })
	return s
}

func TestRealCode(t *testing.T) {
	r := serve(t)
	s := r.coding(t)
	t.Run("what one run defines is there for the next", func(t *testing.T) { stateStays(t, s) })
	t.Run("errors are results", func(t *testing.T) { raises(t, s) })
	t.Run("a timeout interrupts, and the context is usable", func(t *testing.T) { codeTimesOut(t, s) })
	t.Run("a cancel interrupts, and the context is usable", func(t *testing.T) { codeIsCancelled(t, s) })
	t.Run("a context is interrupted from outside", func(t *testing.T) { interruptedOutside(t, s) })
	t.Run("much output is complete and in order", func(t *testing.T) { muchOutput(t, s) })
	t.Run("a large picture is complete", func(t *testing.T) { largePicture(t, s) })
	t.Run("a kernel that dies says why, and the next run has a new one", func(t *testing.T) { kernelDies(t, s) })
	t.Run("contexts are apart, and end", func(t *testing.T) { contextsApart(t, s) })
	t.Run("a sandbox without kernels says which template has some", func(t *testing.T) { noKernels(t, r.sandbox(t)) })
}

func code(t *testing.T, s *native.Sandbox, text string, o core.CodeOptions) *core.Execution {
	t.Helper()
	x, err := s.RunCode(t.Context(), text, o)
	require.NoError(t, err)
	return x
}

func limit(d time.Duration) *time.Duration { return &d }

func stateStays(t *testing.T, s *native.Sandbox) {
	var lines []string
	code(t, s, "x = 20", core.CodeOptions{})
	x := code(t, s, "print('é😀'); x + 22", core.CodeOptions{OnStdout: func(m core.OutputMessage) { lines = append(lines, m.Line) }})
	require.Equal(t, "42", x.Text())
	require.Equal(t, "é😀\n", strings.Join(lines, ""))
	require.Equal(t, lines, x.Logs.Stdout)
	require.Positive(t, x.Count)
	x = code(t, s, "import os; os.environ['A']", core.CodeOptions{Envs: map[string]string{"A": "b c"}})
	require.Equal(t, "b c", x.Text())
	require.Equal(t, "None", code(t, s, "print(os.environ.get('A'), end='')", core.CodeOptions{}).Logs.Stdout[0])
}

func raises(t *testing.T, s *native.Sandbox) {
	x := code(t, s, "print('before')\n1/0", core.CodeOptions{})
	require.NotNil(t, x.Error)
	require.Equal(t, "ZeroDivisionError", x.Error.Name)
	require.Contains(t, x.Error.Traceback, "division by zero")
	require.Equal(t, "before\n", strings.Join(x.Logs.Stdout, ""))
}

func codeTimesOut(t *testing.T, s *native.Sandbox) {
	code(t, s, "kept = 7", core.CodeOptions{})
	_, err := s.RunCode(t.Context(), "print('so far', flush=True)\nwhile True: pass", core.CodeOptions{Timeout: limit(time.Second)})
	e := fault.As(err)
	require.NotNil(t, e, "%v", err)
	require.Equal(t, fault.CodeCommandTimeout, e.Code)
	require.True(t, e.Killed)
	partial, ok := e.Partial.(*core.Execution)
	require.True(t, ok)
	require.Equal(t, "so far\n", strings.Join(partial.Logs.Stdout, ""))
	x := code(t, s, "kept", core.CodeOptions{Timeout: limit(10 * time.Second)})
	require.Equal(t, "7", x.Text())
}

func codeIsCancelled(t *testing.T, s *native.Sandbox) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.RunCode(ctx, "print('x', flush=True)\nimport time; time.sleep(100)", core.CodeOptions{OnStdout: func(core.OutputMessage) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "7", code(t, s, "kept", core.CodeOptions{Timeout: limit(10 * time.Second)}).Text())
}

func interruptedOutside(t *testing.T, s *native.Sandbox) {
	made, err := s.CreateCodeContext(t.Context(), core.ContextOptions{Cwd: "/tmp"})
	require.NoError(t, err)
	var stop error
	x := code(t, s, "mine = 1\nprint('x', flush=True)\nimport time; time.sleep(100)", core.CodeOptions{
		ContextID: made.ID, OnStdout: func(core.OutputMessage) { _, stop = s.InterruptCodeContext(t.Context(), made.ID) },
	})
	require.NoError(t, stop)
	require.NotNil(t, x.Error)
	require.Equal(t, "KeyboardInterrupt", x.Error.Name)
	require.Equal(t, "/tmp", code(t, s, "import os; os.getcwd()", core.CodeOptions{ContextID: made.ID}).Text())
	require.NoError(t, s.RestartCodeContext(t.Context(), made.ID))
	require.Equal(t, "NameError", code(t, s, "mine", core.CodeOptions{ContextID: made.ID}).Error.Name)
	removed, err := s.RemoveCodeContext(t.Context(), made.ID)
	require.NoError(t, err)
	require.True(t, removed)
}

func muchOutput(t *testing.T, s *native.Sandbox) {
	rows := soak(250_000, 50_000)
	x := code(t, s, fmt.Sprintf("for i in range(%d): print(f'{i:079}')\nprint('z' * 5_000_000)", rows), core.CodeOptions{})
	out := strings.Join(x.Logs.Stdout, "")
	require.Len(t, out, rows*80+5_000_001)
	for i := 0; i < rows; i += 997 {
		require.Equal(t, fmt.Sprintf("%079d\n", i), out[i*80:(i+1)*80])
	}
	require.Equal(t, strings.Repeat("z", 5_000_000)+"\n", out[rows*80:])
}

func largePicture(t *testing.T, s *native.Sandbox) {
	x := code(t, s, "from IPython.display import Image, display\ndisplay(Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + bytes(range(256)) * 40_000, format='png'))", core.CodeOptions{})
	require.Len(t, x.Results, 1)
	require.Contains(t, x.Results[0].Formats(), "png")
	b, err := x.Results[0].Bytes("png")
	require.NoError(t, err)
	require.Len(t, b, 8+256*40_000)
	require.False(t, x.Results[0].IsMainResult)
}

func kernelDies(t *testing.T, s *native.Sandbox) {
	x := code(t, s, "import os; os._exit(3)", core.CodeOptions{})
	require.NotNil(t, x.Error)
	require.Contains(t, x.Error.Value, "3")
	x = code(t, s, "1+1", core.CodeOptions{})
	require.Equal(t, "2", x.Text())
	require.NotEmpty(t, x.Logs.Stderr)
}

func contextsApart(t *testing.T, s *native.Sandbox) {
	const n = 4
	ids := make([]string, n)
	for i := range ids {
		made, err := s.CreateCodeContext(t.Context(), core.ContextOptions{})
		require.NoError(t, err)
		ids[i] = made.ID
		code(t, s, fmt.Sprintf("me = %d", i), core.CodeOptions{ContextID: made.ID})
	}
	together(t, n, func() error { return apart(t.Context(), s, ids) })
	for _, id := range ids {
		removed, err := s.RemoveCodeContext(t.Context(), id)
		require.NoError(t, err)
		require.True(t, removed)
	}
	_, err := s.RunCode(t.Context(), "1", core.CodeOptions{ContextID: ids[0]})
	require.Equal(t, fault.CodeCodeExecution, fault.CodeOf(err))
}

func apart(ctx context.Context, s *native.Sandbox, ids []string) error {
	for i, id := range ids {
		x, err := s.RunCode(ctx, "me", core.CodeOptions{ContextID: id})
		if err != nil {
			return err
		}
		if x.Text() != fmt.Sprint(i) {
			return errors.New("context " + fmt.Sprint(i) + " says " + x.Text())
		}
	}
	return nil
}

func noKernels(t *testing.T, s *native.Sandbox) {
	_, err := s.RunCode(t.Context(), "1", core.CodeOptions{})
	e := fault.As(err)
	require.NotNil(t, e, "%v", err)
	require.Equal(t, fault.CodeCodeExecution, e.Code)
	require.Contains(t, e.Error(), "code-interpreter-v1")
}

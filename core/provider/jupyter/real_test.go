package jupyter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/native"
)

const token = "s3cr3t-of-the-server"

// server is a Jupyter Server of this test.
type server struct {
	t          *testing.T
	url, token string
}

func serve(t *testing.T, token string, options ...string) *server {
	out, err := exec.Command("../../../scripts/jupyter-server").Output()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no Jupyter Server: ", err)
		}
		t.Skip("no Jupyter Server: ", err)
	}
	python := strings.TrimSpace(string(out))
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "work"), 0o755))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	require.NoError(t, l.Close())
	args := append([]string{
		"--allow-root", "--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=" + port, "--ServerApp.port_retries=0",
		"--ServerApp.root_dir=" + root, "--IdentityProvider.token=" + token,
	}, options...)
	cmd := exec.Command(filepath.Join(python, "bin", "jupyter-server"), args...)
	cmd.Env = []string{"HOME=" + dir, "PATH=" + filepath.Join(python, "bin") + ":" + os.Getenv("PATH"), "JUPYTER_RUNTIME_DIR=" + filepath.Join(dir, "run"), "IPYTHONDIR=" + dir}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Process.Signal(os.Interrupt) // the second says yes to the question
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Log(said.String())
		}
	})
	s := &server{t, "http://127.0.0.1:" + port, token}
	require.Eventually(t, func() bool {
		resp, err := http.Get(s.url + "/api")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == 200
	}, 60*time.Second, 100*time.Millisecond)
	return s
}

// ask makes a request of the test's own.
func (s *server) ask(method, path, body string, out any) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "token "+s.token)
	r.Header.Set("Cookie", "_xsrf=00")
	r.Header.Set("X-XSRFToken", "00")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	require.Less(s.t, resp.StatusCode, 300)
	require.NoError(s.t, json.NewDecoder(resp.Body).Decode(out))
}

func (s *server) client(ctx context.Context, token string) *core.Client {
	c, err := native.NewClient(ctx, native.Options{
		Arguments: setting.Arguments{Provider: "jupyter", APIURL: s.url, APIKey: token},
		Getenv:    func(string) string { return "" },
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c.Client
}

func TestARealServerRunsCode(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts servers")
	}
	for name, one := range map[string]struct {
		token   string
		options []string
	}{
		"messages in parts": {token, nil},
		"messages as JSON":  {token, []string{"--ZMQChannelsWebsocketConnection.kernel_ws_protocol="}},
		"no token":          {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serve(t, one.token, one.options...).everything()
		})
	}
}

func (s *server) everything() {
	t, ctx := s.t, context.Background()
	var before struct{ ID string }
	s.ask("POST", "/api/kernels", `{"name":"python3"}`, &before)
	c := s.client(ctx, s.token)
	sandbox, err := c.Create(ctx, core.CreateOptions{})
	require.NoError(t, err)
	run := func(code string, o core.CodeOptions) *core.Execution {
		t.Helper()
		e, err := sandbox.RunCode(ctx, code, o)
		require.NoError(t, err)
		return e
	}

	e := run("import sys\nx = 5\nprint('out')\nprint('err', file=sys.stderr)\nx", core.CodeOptions{})
	require.Equal(t, "5", e.Text())
	require.Equal(t, []string{"out\n"}, e.Logs.Stdout)
	require.Equal(t, []string{"err\n"}, e.Logs.Stderr)
	require.EqualValues(t, 1, e.Count)
	e = run("from IPython.display import display, HTML\ndisplay(HTML('<b>h</b>'))\ndisplay({'application/x-mine': {'a': 1}, 'text/plain': 't'}, raw=True)\nx + 1", core.CodeOptions{})
	require.Equal(t, "6", e.Text())
	require.Len(t, e.Results, 3)
	require.Equal(t, "<b>h</b>", e.Results[0].HTML)
	require.JSONEq(t, `{"a":1}`, string(e.Results[1].Extra["application/x-mine"]))
	require.Equal(t, "ZeroDivisionError", run("1 / 0", core.CodeOptions{}).Error.Name)
	require.Len(t, strings.Join(run("print('é' * (3 << 18), end='')", core.CodeOptions{}).Logs.Stdout, ""), 3<<19)
	e = run("print('x' * (8 << 20))\n7", core.CodeOptions{}) // more than the server passes on, which it says
	require.Contains(t, strings.Join(e.Logs.Stderr, ""), "data rate exceeded")
	time.Sleep(3 * time.Second) // the server's window of the rate

	limit := 500 * time.Millisecond
	_, err = sandbox.RunCode(ctx, "import time\nwhile True: time.sleep(0.01)", core.CodeOptions{Timeout: &limit})
	require.Equal(t, fault.CodeCommandTimeout, fault.CodeOf(err))
	require.True(t, fault.As(err).Killed)
	require.Equal(t, "5", run("x", core.CodeOptions{}).Text())
	leaving, cancel := context.WithCancel(ctx)
	_, err = sandbox.RunCode(leaving, "print('begun', flush=True)\ntime.sleep(60)", core.CodeOptions{OnStdout: func(core.OutputMessage) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "5", run("x", core.CodeOptions{}).Text())

	other, err := sandbox.CreateCodeContext(ctx, core.ContextOptions{Cwd: "work"})
	require.NoError(t, err)
	in := core.CodeOptions{ContextID: other.ID}
	require.Equal(t, "work", run("import os\ny = 1\nos.path.basename(os.getcwd())", in).Text())
	_, err = sandbox.CreateCodeContext(ctx, core.ContextOptions{Cwd: "none"})
	require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
	require.NoError(t, sandbox.RestartCodeContext(ctx, other.ID))
	require.Equal(t, "NameError", run("y", in).Error.Name)
	require.Equal(t, "KernelDied", run("import os\nos._exit(1)", in).Error.Name)
	require.Equal(t, "3", run("1 + 2", in).Text())
	list, err := sandbox.ListCodeContexts(ctx)
	require.NoError(t, err)
	require.Len(t, list, 2)
	removed, err := sandbox.RemoveCodeContext(ctx, other.ID)
	require.NoError(t, err)
	require.True(t, removed)
	_, err = sandbox.RunCode(ctx, "1", in)
	require.Equal(t, fault.CodeCodeExecution, fault.CodeOf(err))
	_, err = sandbox.RemoveCodeContext(ctx, before.ID)
	require.Error(t, err)

	killed, err := c.Kill(ctx, sandbox.ID())
	require.NoError(t, err)
	require.True(t, killed)
	_, err = sandbox.RunCode(ctx, "1", core.CodeOptions{})
	require.Equal(t, fault.CodeSandboxNotFound, fault.CodeOf(err))
	var left []struct{ ID string }
	s.ask("GET", "/api/kernels", "", &left)
	require.Len(t, left, 1)
	require.Equal(t, before.ID, left[0].ID)
	if s.token != "" {
		_, err = s.client(ctx, "wrong").Create(ctx, core.CreateOptions{})
		require.Equal(t, fault.CodeInvalidAPIKey, fault.CodeOf(err))
	}
}

package interpreter

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// begin starts an execution and waits for its first output.
func (s *served) begin(ctx context.Context, code string, more ...params) (*http.Response, *bufio.Reader) {
	s.t.Helper()
	body := params{"code": code}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	resp, err := s.post(ctx, "/execute", body)
	require.NoError(s.t, err)
	require.Equal(s.t, 200, resp.StatusCode)
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	in := bufio.NewReader(resp.Body)
	for {
		raw, err := in.ReadString('\n')
		require.NoError(s.t, err)
		if strings.HasPrefix(raw, `{"type":"stdout"`) {
			return resp, in
		}
	}
}

// rest reads a stream to its end.
func rest(t *testing.T, in io.Reader) *run {
	t.Helper()
	r := &run{}
	require.NoError(t, r.read(in))
	return r
}

const forever = "print('begun', flush=True)\nwhile True: pass"

func TestHangingUpInterrupts(t *testing.T) {
	s := serveKernels(t)
	s.run("x = 7")
	for _, code := range []string{forever, "import time\nprint('begun', flush=True)\ntime.sleep(1000)", "print('begun', flush=True)\nimport asyncio\nawait asyncio.sleep(1000)"} {
		ctx, cancel := context.WithCancel(context.Background())
		s.begin(ctx, code)
		cancel()
		began := time.Now()
		require.Equal(t, "7", s.run("x").text())
		t.Log("usable again after", time.Since(began))
	}
}

func TestALateInterruptHitsNobodyElse(t *testing.T) {
	s := serveKernels(t)
	s.run("x = 7")
	for range 12 {
		ctx, cancel := context.WithCancel(context.Background())
		go func() { time.Sleep(time.Duration(3000+rand.IntN(6000)) * time.Microsecond); cancel() }()
		_, _ = s.runIn(ctx, "x = 7")
		cancel()
		r := s.run("import time\nfor i in range(100): time.sleep(0.0002)\nx")
		require.Nil(t, r.Error)
		require.Equal(t, "7", r.text())
	}
}

func TestInterruptStopsOneExecution(t *testing.T) {
	s := serveKernels(t)
	s.run("x = 7")
	resp, in := s.begin(t.Context(), forever)
	id, execution := resp.Header.Get("X-Context-Id"), resp.Header.Get("X-Execution-Id")
	// One that waits is taken out of the queue; the one that runs goes on.
	waits, err := s.post(t.Context(), "/execute", params{"code": "x = 8"})
	require.NoError(t, err)
	defer waits.Body.Close()
	require.Equal(t, `{"interrupted":true,"busy":false,"waited":true}`, s.interrupt(id, waits.Header.Get("X-Execution-Id")))
	r := rest(t, waits.Body)
	require.Equal(t, "KeyboardInterrupt", r.Error["name"])
	require.Equal(t, "end_of_execution", r.last())

	require.Equal(t, `{"interrupted":true,"busy":false}`, s.interrupt(id, execution))
	r = rest(t, in)
	require.Equal(t, "KeyboardInterrupt", r.Error["name"])
	require.Equal(t, "end_of_execution", r.last())
	require.Equal(t, `{"interrupted":false,"busy":false}`, s.interrupt(id, execution))
	require.Equal(t, `{"interrupted":false,"busy":false}`, s.interrupt(id, ""))
	require.Equal(t, "7", s.run("x").text())
}

func (s *served) interrupt(id, execution string) string {
	s.t.Helper()
	var body any = []byte(nil)
	if execution != "" {
		body = params{"execution_id": execution}
	}
	resp, err := s.post(context.Background(), "/contexts/"+id+"/interrupt", body)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, 200, resp.StatusCode, string(b))
	return string(b)
}

func TestAProgramThatIgnoresInterruptsIsBusy(t *testing.T) {
	s := serveKernels(t)
	resp, in := s.begin(t.Context(), `import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('begun', flush=True)
time.sleep(3)
'done'`)
	require.Equal(t, `{"interrupted":true,"busy":true}`, s.interrupt(resp.Header.Get("X-Context-Id"), ""))
	r := rest(t, in)
	require.Equal(t, "done", r.text())
}

func TestADeadKernelSaysWhyAndIsReplaced(t *testing.T) {
	s := serveKernels(t)
	other := s.create(params{})
	s.run("y = 5", params{"context_id": other.ID})
	for code, reason := range map[string]string{
		"import os; os._exit(3)":                                  "exited with code 3",
		"import ctypes; ctypes.string_at(0)":                      "segmentation fault",
		"import os, signal; os.kill(os.getpid(), signal.SIGKILL)": "out of memory",
		"import os; os.closerange(3, 1000)":                       "",
		"import os\nos.fork()\nos._exit(1)":                       "exited with code 1",
	} {
		began := time.Now()
		s.run("x = 1")
		r := s.run("print('before', flush=True); import time; time.sleep(0.05)\n" + code)
		require.Equal(t, "KernelDied", r.Error["name"], code)
		require.Contains(t, r.Error["value"], reason)
		require.Equal(t, "before\n", r.Stdout)
		require.Equal(t, "end_of_execution", r.last())
		r = s.run("'x' in globals()")
		require.Equal(t, "False", r.text())
		require.Equal(t, 1, r.Count)
		require.Contains(t, r.Stderr, "new python kernel")
		require.Empty(t, s.run("1").Stderr, "once is enough")
		t.Log(code, time.Since(began))
	}
	require.Equal(t, "5", s.run("y", params{"context_id": other.ID}).text())
	require.Contains(t, s.run("import ctypes; ctypes.string_at(0)").Error["traceback"], "Segmentation fault")
}

func TestWhatAKernelLeftBehindKeepsNobodyWaiting(t *testing.T) {
	s := serveKernels(t)
	c := s.create(params{})
	in := params{"context_id": c.ID}
	s.run(`import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(30)
    os._exit(0)`, in)
	began := time.Now()
	r := s.run("print('before', flush=True); time.sleep(0.05); os._exit(3)", in)
	require.Equal(t, "KernelDied", r.Error["name"])
	require.Equal(t, "before\n", r.Stdout)
	require.Less(t, time.Since(began), 25*time.Second, "its child lives for 30 s")
}

func TestAKernelThatDiesBetweenCellsIsReplaced(t *testing.T) {
	s := serveKernels(t)
	s.run("import threading, os; threading.Timer(0.05, os._exit, [9]).start()")
	c, err := s.service.contexts.forLanguage("python")
	require.NoError(t, err)
	<-c.kernel.dead
	r := s.run("1+1")
	require.Equal(t, "2", r.text())
	require.Contains(t, r.Stderr, "exited with code 9")
}

func TestCodeThatEndsItsKernelTakesNoLaterRunWithIt(t *testing.T) {
	s := serveKernels(t)
	for _, code := range []string{"exit()", "quit"} {
		s.run("x = 1")
		require.Empty(t, s.run(code).Error, code)
		r := s.run("'x' in globals()")
		require.Empty(t, r.Error, code)
		require.Equal(t, "False", r.text(), code)
		require.Contains(t, r.Stderr, "exited with code 0", code)
	}
}

// closedShell is code that closes the socket on which the kernel is asked.
const closedShell = "import ipykernel.kernelapp as k; k.IPKernelApp.instance().shell_socket.close()"

func TestAKernelThatCannotBeAskedIsReplaced(t *testing.T) {
	s := serveKernels(t)
	s.run(closedShell)
	r := s.run("1+1")
	require.Equal(t, "KernelDied", r.Error["name"])
	require.Equal(t, "the kernel closed its connections; the next run starts a new python kernel, without variables", r.Error["value"])
	r = s.run("1+1")
	require.Equal(t, "2", r.text())
	require.Contains(t, r.Stderr, "the kernel closed its connections")
}

func TestAKernelThatItsCodeBrokeIsNoSuccess(t *testing.T) {
	s := serveKernels(t)
	s.run("import sys; sys.stdout = sys.stderr = None")
	r := s.run("7")
	require.Equal(t, "KernelBroken", r.Error["name"])
	require.Empty(t, r.text())
}

func TestAKernelKilledByHandIsNotPutDownToMemory(t *testing.T) {
	kills := atomic.Int64{}
	s := serveKernels(t, func(o *Options) { o.OOMKills = kills.Load })
	s.run("1")
	kills.Store(1) // some other process
	r := s.run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
	require.Equal(t, "the kernel's process was killed (SIGKILL); the next run starts a new python kernel, without variables", r.Error["value"])
}

func (s *served) create(body params) described {
	s.t.Helper()
	resp, err := s.post(context.Background(), "/contexts", body)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, 200, resp.StatusCode, string(b))
	var d described
	require.NoError(s.t, json.Unmarshal(b, &d))
	return d
}

func (s *served) do(method, path string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.server.URL+path, nil)
	require.NoError(s.t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp.StatusCode, string(b)
}

func TestContextsAreApart(t *testing.T) {
	s := serveKernels(t)
	require.NoError(t, os.Mkdir(s.home+"/sub", 0o755))
	c := s.create(params{"language": "PY", "cwd": "sub"})
	require.Equal(t, described{c.ID, "python", s.home + "/sub"}, c)
	in := params{"context_id": c.ID}
	require.Equal(t, s.home+"/sub", s.run("x = 2; import os; os.getcwd()", in).text())
	require.Equal(t, s.home, s.run("import os; os.getcwd()").text())
	require.Equal(t, "NameError", s.run("x").Error["name"])

	_, body := s.do("GET", "/contexts")
	var list []described
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	require.Len(t, list, 2)

	status, body := s.do("POST", "/contexts/"+c.ID+"/restart")
	require.Equal(t, "200 null", fmt.Sprint(status, " ", body))
	r := s.run("x", in)
	require.Equal(t, "NameError", r.Error["name"])
	require.Empty(t, r.Stderr)

	status, body = s.do("DELETE", "/contexts/"+c.ID)
	require.Equal(t, "200 null", fmt.Sprint(status, " ", body))
	for _, call := range []string{"DELETE ", "POST /restart", "POST /interrupt"} {
		method, path, _ := strings.Cut(call, " ")
		status, body = s.do(method, "/contexts/"+c.ID+path)
		require.Equal(t, "404 Context "+c.ID+" not found", fmt.Sprint(status, " ", body))
	}
	r = s.run("x", in)
	require.Equal(t, "404 Context "+c.ID+" not found", fmt.Sprint(r.status, " ", r.body))
}

func TestRestartAndRemovalEndWhatRuns(t *testing.T) {
	s := serveKernels(t)
	c := s.create(params{})
	in := params{"context_id": c.ID}
	_, out := s.begin(t.Context(), forever, in)
	status, _ := s.do("POST", "/contexts/"+c.ID+"/restart")
	require.Equal(t, 200, status)
	r := rest(t, out)
	require.Equal(t, "ContextRestarting", r.Error["name"])
	require.Equal(t, "end_of_execution", r.last())

	_, out = s.begin(t.Context(), forever, in)
	waits, err := s.post(t.Context(), "/execute", params{"code": "1", "context_id": c.ID})
	require.NoError(t, err)
	defer waits.Body.Close()
	status, _ = s.do("DELETE", "/contexts/"+c.ID)
	require.Equal(t, 200, status)
	for _, r := range []*run{rest(t, out), rest(t, waits.Body)} {
		require.Equal(t, "ContextRemoved", r.Error["name"])
		require.Equal(t, "end_of_execution", r.last())
	}
}

func TestManyContextsLeaveNoProcess(t *testing.T) {
	s := serveKernels(t)
	// Each takes half a second of two processors.
	count := 6
	if os.Getenv("SOAK") != "" {
		count = 20
	}
	var mu sync.Mutex
	var pids []int
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			c := s.create(params{})
			in := params{"context_id": c.ID}
			s.run(fmt.Sprintf("x = %d\nimport os, subprocess\np = subprocess.Popen(['sleep', '1000'])", i), in)
			r := s.run("x, os.getpid(), p.pid", in)
			var x, pid, child int
			_, err := fmt.Sscanf(r.text(), "(%d, %d, %d)", &x, &pid, &child)
			mu.Lock()
			defer mu.Unlock()
			pids = append(pids, pid, child)
			if err != nil || x != i {
				t.Errorf("context %d has %q (%v)", i, r.text(), err)
			}
			if status, body := s.do("DELETE", "/contexts/"+c.ID); status != 200 {
				t.Error(body)
			}
		})
	}
	all.Wait()
	for _, pid := range pids {
		require.Eventually(t, func() bool { return !lives(pid) }, 5*time.Second, 10*time.Millisecond)
	}
}

// lives reports whether there is a process that is no zombie.
func lives(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ") && syscall.Kill(pid, 0) == nil
}

func TestExecutionsTakeTurns(t *testing.T) {
	s := serveKernels(t)
	s.run("seen = []")
	var all sync.WaitGroup
	c, err := s.service.contexts.forLanguage("python")
	require.NoError(t, err)
	for i := range 8 {
		all.Go(func() {
			s.run(fmt.Sprintf("import time; time.sleep(0.5 * (not seen)); seen.append(%d)", i))
		})
		// The next one comes when this one is there.
		require.Eventually(t, func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.queue) > i
		}, 5*time.Second, time.Millisecond)
	}
	all.Wait()
	require.Equal(t, "[0, 1, 2, 3, 4, 5, 6, 7]", s.run("seen").text())
}

func TestVariablesOfSandboxAndCall(t *testing.T) {
	s := serveKernels(t, func(*Options) {})
	s.env["A"], s.env["B"] = "sandbox", "sandbox"
	get := "import os; [os.environ.get(n) for n in 'ABC']"
	require.Equal(t, "['sandbox', 'sandbox', None]", s.run(get).text())
	envs := params{"env_vars": map[string]any{"B": "call \"'\\\n漢🌍$x", "C": "new", "D": nil}}
	r := s.run(get, envs)
	require.Equal(t, `['sandbox', 'call "\'\\\n漢🌍$x', 'new']`, r.text())
	require.Equal(t, 2, r.Count, "what is hidden does not count")
	require.Equal(t, "['sandbox', 'sandbox', None]", s.run(get).text())
	s.run("1/0", envs)
	ctx, cancel := context.WithCancel(t.Context())
	s.begin(ctx, forever, envs)
	cancel()
	require.Equal(t, "['sandbox', 'sandbox', None]", s.run(get).text())
}

func TestRequestsThatAreRefused(t *testing.T) {
	s := serveKernels(t, func(o *Options) { o.Token = func() string { return "secret" } })
	for name, c := range map[string]struct {
		body   any
		status int
		text   string
	}{
		"both":             {params{"code": "1", "context_id": "x", "language": "python"}, 400, "Only one of context_id or language can be provided"},
		"no such context":  {params{"code": "1", "context_id": "nope"}, 404, "Context nope not found"},
		"NUL":              {params{"code": "print('a\x00b')"}, 400, "NUL byte (at byte 8)"},
		"no code":          {params{"language": "python"}, 400, "code is missing"},
		"code is a number": {params{"code": 1}, 400, "code must be a text"},
		"null code":        {params{"code": nil}, 400, "code must be a text"},
		"no JSON":          {[]byte("{"), 400, "invalid request"},
		"language":         {params{"code": "1", "language": "cobol"}, 400, `no kernel for language "cobol": this sandbox has`},
		"env name":         {params{"code": "1", "env_vars": map[string]any{"A=B": "c"}}, 400, "env_vars: invalid name"},
		"env NUL":          {params{"code": "1", "env_vars": map[string]any{"A": "\x00"}}, 400, "NUL"},
		"env type":         {params{"code": "1", "env_vars": map[string]any{"A": 1}}, 400, "invalid request"},
	} {
		resp, err := s.post(t.Context(), "/execute", c.body)
		require.NoError(t, err)
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		require.Equal(t, c.status, resp.StatusCode, name)
		require.Contains(t, string(b), c.text, name)
	}
	for body, text := range map[string]string{`{"cwd":"/does/not/exist"}`: "no such file", `{"cwd":"/etc/passwd"}`: "is not a directory", `{"language":"x"}`: "no kernel"} {
		resp, err := s.post(t.Context(), "/contexts", []byte(body))
		require.NoError(t, err)
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		require.Equal(t, 400, resp.StatusCode, body)
		require.Contains(t, string(b), text)
	}
	req, _ := http.NewRequest("GET", s.server.URL+"/contexts", nil)
	req.Header.Set("X-Access-Token", "wrong")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_ = resp.Body.Close()
	require.Equal(t, 401, resp.StatusCode)
	req.Header.Set("X-Access-Token", "secret")
	resp, err = http.DefaultClient.Do(req)
	require.NoError(t, err)
	_ = resp.Body.Close()
	require.Equal(t, 200, resp.StatusCode)
}

func TestPagesMayAsk(t *testing.T) {
	s := serveKernels(t)
	req, _ := http.NewRequest("OPTIONS", s.server.URL+"/execute", nil)
	req.Header.Set("Access-Control-Request-Headers", "x-access-token, e2b-sandbox-id")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_ = resp.Body.Close()
	require.Equal(t, 204, resp.StatusCode)
	require.Equal(t, "*", resp.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "x-access-token, e2b-sandbox-id", resp.Header.Get("Access-Control-Allow-Headers"))
}

func TestSilenceIsKeptAlive(t *testing.T) {
	s := serveKernels(t, func(o *Options) { o.Keepalive = 30 * time.Millisecond })
	s.run("1")
	r := s.run("import time; time.sleep(0.3)")
	require.Contains(t, r.lines, line{"type": "keepalive"})
	require.Equal(t, "end_of_execution", r.last())
}

func TestNothingToRunOnNamesTheTemplate(t *testing.T) {
	s := serveKernels(t)
	s.env["PATH"] = "/nowhere"
	if _, err := os.Stat("/usr/share/jupyter/kernels"); err == nil {
		t.Skip("this machine has kernels of its own")
	}
	r := s.run("1")
	require.Equal(t, 501, r.status)
	require.Contains(t, r.body, "code-interpreter-v1")
	status, body := s.do("GET", "/health")
	require.Equal(t, 501, status)
	require.Contains(t, body, "code-interpreter-v1")
}

func TestAKernelThatDoesNotStartSaysWhy(t *testing.T) {
	s := serveKernels(t)
	dir := s.home + "/.local/share/jupyter/kernels/broken"
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(dir+"/kernel.json", []byte(`{"argv":["python3","-c","import sys; sys.exit('no luck')"],"language":"broken"}`), 0o644))
	r := s.run("1", params{"language": "broken"})
	require.Equal(t, "KernelStartError", r.Error["name"])
	require.Contains(t, r.Error["value"], "exited with code 1")
	require.Contains(t, r.Error["traceback"], "no luck")
	resp, err := s.post(t.Context(), "/contexts", params{"language": "broken"})
	require.NoError(t, err)
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	require.Equal(t, 500, resp.StatusCode)
	require.Contains(t, string(b), "no luck")
}

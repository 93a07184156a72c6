package interpreter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
)

// kernels is the environment with the kernels that these tests drive.
var kernels = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("../../scripts/kernel-tools").Output()
	return strings.TrimSpace(string(out)), err
})

// me is the account of the tests with another home.
type me struct{ home string }

func (m me) Lookup(string) (daemon.User, error) {
	return daemon.User{Name: "user", UID: os.Geteuid(), GID: os.Getegid(), Home: m.home}, nil
}
func (me) NameOf(int) string                  { return "user" }
func (me) GroupOf(int) string                 { return "user" }
func (me) OwnerOf(daemon.User) (uid, gid int) { return -1, -1 }

// served is a service of real kernels on this machine, without a sandbox.
type served struct {
	t       testing.TB
	service *Service
	server  *httptest.Server
	home    string
	// env are the sandbox's variables.
	env map[string]string
}

func serveKernels(t testing.TB, change ...func(*Options)) *served {
	t.Helper()
	prefix, err := kernels()
	require.NoError(t, err)
	s := &served{t: t, home: t.TempDir()}
	s.env = map[string]string{"PATH": prefix + "/bin:/usr/bin:/bin", "IPYTHONDIR": filepath.Join(s.home, ".ipython")}
	// A path of t.TempDir is too long for a socket.
	dir, err := os.MkdirTemp("", "k")
	require.NoError(t, err)
	o := Options{Launcher: daemon.Direct{}, Users: me{s.home}, Env: func() map[string]string { return s.env }, Dir: dir}
	for _, f := range change {
		f(&o)
	}
	s.service = New(o)
	s.server = httptest.NewServer(s.service.Handler())
	t.Cleanup(func() {
		s.server.CloseClientConnections()
		s.server.Close()
		s.service.Close()
		left, _ := os.ReadDir(dir)
		require.Empty(t, left, "a kernel left its directory")
		_ = os.RemoveAll(dir)
	})
	return s
}

// line is one line of a stream, with all keys.
type line map[string]any

// run is what an execution gave.
type run struct {
	status  int
	head    http.Header
	body    string
	lines   []line
	Stdout  string
	Stderr  string
	Results []line
	Error   line
	Count   int
}

// text is that of the main result.
func (r *run) text() string {
	for _, x := range r.Results {
		if x["is_main_result"] == true {
			s, _ := x["text"].(string)
			return s
		}
	}
	return ""
}

func (s *served) post(ctx context.Context, path string, body any) (*http.Response, error) {
	b, ok := body.([]byte)
	if !ok {
		b, _ = json.Marshal(body)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.server.URL+path, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

type params map[string]any

func (s *served) run(code string, more ...params) *run {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := s.runIn(ctx, code, more...)
	require.NoError(s.t, err)
	return r
}

func (s *served) runIn(ctx context.Context, code string, more ...params) (*run, error) {
	body := params{"code": code, "context_id": nil, "language": nil, "env_vars": nil}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	resp, err := s.post(ctx, "/execute", body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	r := &run{status: resp.StatusCode, head: resp.Header}
	if resp.StatusCode != http.StatusOK {
		b, err := io.ReadAll(resp.Body)
		r.body = string(b)
		return r, err
	}
	return r, r.read(resp.Body)
}

func (r *run) read(in io.Reader) error {
	br := bufio.NewReaderSize(in, 1<<20)
	for {
		raw, err := br.ReadBytes('\n')
		if err == io.EOF && len(raw) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		l := line{}
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		r.add(l)
	}
}

func (r *run) add(l line) {
	r.lines = append(r.lines, l)
	text, _ := l["text"].(string)
	switch l["type"] {
	case "stdout":
		r.Stdout += text
	case "stderr":
		r.Stderr += text
	case "result":
		r.Results = append(r.Results, l)
	case "error":
		r.Error = l
	case "number_of_executions":
		r.Count = int(l["execution_count"].(float64))
	}
}

// last is the type of the last line.
func (r *run) last() any {
	if len(r.lines) == 0 {
		return nil
	}
	return r.lines[len(r.lines)-1]["type"]
}

package daemon

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asReaper makes the test binary act as a pid 1 would: a reaper takes every child
// of the process, so no other test may run beside it.
const asReaper = "DAEMON_TEST_REAPER"

func TestMain(m *testing.M) {
	if os.Getenv(asReaper) != "" {
		os.Exit(reaperMain())
	}
	os.Exit(m.Run())
}

// reaperMain starts many short commands through a reaper and checks each status.
func reaperMain() int {
	reaper := NewReaper()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		reaper.Run(stop)
		close(stopped)
	}()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 10
	}
	var all sync.WaitGroup
	code := 0
	var mu sync.Mutex
	for i := range 100 {
		all.Go(func() {
			want := i % 7
			// The shell leaves a child behind, as commands do with pid 1.
			l := &Launch{
				Path: "/bin/sh", Args: []string{"sh", "-c", "sleep 0.05 & exit " + string(rune('0'+want))},
				Dir: "/", Stdin: null, Stdout: null, Stderr: null, User: User{UID: os.Geteuid(), GID: os.Getegid()},
			}
			p, err := Direct{Reaper: reaper}.Launch(l)
			if err != nil || p.Wait().ExitStatus() != want {
				mu.Lock()
				code = 11
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if _, err := (Direct{Reaper: reaper}).Launch(&Launch{Path: "/no/such", Args: []string{"x"}, Dir: "/", Stdin: null, Stdout: null, Stderr: null, User: User{UID: os.Geteuid(), GID: os.Getegid()}}); !errors.Is(err, syscall.ENOENT) {
		return 12
	}
	close(stop)
	select {
	case <-stopped:
	case <-time.After(5 * time.Second):
		return 13
	}
	return code
}

func TestReaperGivesEachCommandItsOwnStatus(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), asReaper+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestDirectStartsASessionOfItsOwn(t *testing.T) {
	o := newRig(t).mustRun(`set -- $(cat /proc/self/stat); cat /proc/$$/stat`)
	fields := strings.Fields(string(o.out))
	require.Equal(t, fields[0], fields[4], "process group")
	require.Equal(t, fields[0], fields[5], "session")
}

func TestCommandsRunAsTheirUserWithItsGroups(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	require.NoError(t, os.Mkdir(home, 0o755))
	for d := home; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	passwd, group := filepath.Join(dir, "passwd"), filepath.Join(dir, "group")
	require.NoError(t, os.WriteFile(passwd, []byte("root:x:0:0::/root:/bin/sh\nuser:x:4242:4243::"+home+":/bin/bash\n"), 0o644))
	require.NoError(t, os.WriteFile(group, []byte("user:x:4243:\nextra:x:4244:other,user\n"), 0o644))
	r := newRig(t, func(o *Options) { o.Users = NewPasswdDB(passwd, group) })
	require.NoError(t, os.Chown(home, 4242, 4243))
	o := r.mustRun(`id -u; id -g; id -G; echo $HOME $USER $LOGNAME; echo via > /dev/stdout; echo x > own`)
	require.Equal(t, "4242\n4243\n4243 4244\n"+home+" user user\nvia\n", string(o.out), string(o.errout))

	require.Equal(t, 200, r.do("POST", "/files?path=n/e/w", "x", octets...).status)
	for _, name := range []string{"n", "n/e", "n/e/w"} {
		info, err := os.Stat(filepath.Join(home, name))
		require.NoError(t, err)
		require.EqualValues(t, 4242, info.Sys().(*syscall.Stat_t).Uid, name)
		require.EqualValues(t, 4243, info.Sys().(*syscall.Stat_t).Gid, name)
	}
	require.Equal(t, "user", r.stat("n").GetOwner())
	require.Equal(t, "user", r.stat("n").GetGroup())
	got := r.stream("process.Process/Start", shell("id -u"), basic("root")...)
	require.Equal(t, `{"event":{"data":{"stdout":"`+b64("0\n")+`"}}}`, got[1])
	tty := r.stream("process.Process/Start", `{"process":{"cmd":"sh","args":["-c","echo hi > /dev/tty; stat -c %u $(tty)"]},"pty":{"size":{"cols":80,"rows":24}}}`)
	require.Equal(t, `{"event":{"end":{"exited":true,"status":"exit status 0"}}}`, tty[len(tty)-2], "%v", tty)
}

func TestPasswdDBReadsAgainAfterAChange(t *testing.T) {
	dir := t.TempDir()
	passwd, group := filepath.Join(dir, "passwd"), filepath.Join(dir, "group")
	db := NewPasswdDB(passwd, group)
	_, err := db.Lookup("ann")
	require.ErrorIs(t, err, ErrUnknownUser)
	require.Equal(t, "7", db.NameOf(7))
	require.NoError(t, os.WriteFile(passwd, []byte("# comment\nbroken\nann:x:7:8:Ann:/home/ann:/bin/zsh\nbad:x:y:8::/:/\n"), 0o644))
	require.NoError(t, os.WriteFile(group, []byte("staff:x:8:\nwheel:x:9:bob,ann\n"), 0o644))
	user, err := db.Lookup("ann")
	require.NoError(t, err)
	require.Equal(t, User{Name: "ann", UID: 7, GID: 8, Home: "/home/ann", Shell: "/bin/zsh", Groups: []int{9}}, user)
	require.Equal(t, "ann", db.NameOf(7))
	require.Equal(t, "staff", db.GroupOf(8))
	_, err = db.Lookup("bad")
	require.ErrorIs(t, err, ErrUnknownUser)
}

func FuzzPasswd(f *testing.F) {
	f.Add([]byte("a:b:c:d:e:f:g\n"))
	path := filepath.Join(f.TempDir(), "passwd")
	f.Fuzz(func(t *testing.T, content []byte) {
		require.NoError(t, os.WriteFile(path, content, 0o600))
		db := NewPasswdDB(path, path)
		_, _ = db.Lookup("a")
		_ = db.NameOf(0)
	})
}

func TestEnvironmentOfACommand(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Envs = map[string]string{"A": "default", "B": "default"} })
	request := script(`echo $A $B $C $HOME; command -v tool`)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho tool $0\n"), 0o755))
	request.Process.Envs = map[string]string{"B": "request", "C": "", "PATH": dir + ":/usr/bin:/bin"}
	o, err := r.run(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, "default request "+r.home+"\n"+dir+"/tool\n", string(o.out))
	request.Process.Cmd, request.Process.Args = "tool", nil
	o, err = r.run(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, "tool "+dir+"/tool\n", string(o.out))
}

func TestLauncherErrorsOfTheMachineAreErrors(t *testing.T) {
	for err, code := range map[error]string{
		syscall.EAGAIN:        "resource_exhausted",
		syscall.ENOMEM:        "resource_exhausted",
		errors.New("no idea"): "internal",
	} {
		r := newRig(t, func(o *Options) { o.Launcher = broken{err} })
		before := openFiles(t)
		_, got := r.run(t.Context(), script("true"))
		require.Equal(t, code, codeOf(got))
		require.LessOrEqual(t, openFiles(t), before+2)
	}
}

type broken struct{ err error }

func (b broken) Launch(*Launch) (Process, error) { return nil, b.err }

func TestServerInTheBackgroundSurvivesItsCommand(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	r := newRig(t)
	o := r.mustRun(`python3 -u -c '
import http.server, socketserver
s = socketserver.TCPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
open("port", "w").write(str(s.server_address[1]))
s.serve_forever()' & while [ ! -s port ]; do sleep 0.02; done`)
	require.EqualValues(t, 0, o.end.GetExitCode())
	port, err := os.ReadFile(filepath.Join(r.home, "port"))
	require.NoError(t, err)
	for range 3 {
		// Each request makes the server log to the output that nobody reads.
		response, err := r.server.Client().Get("http://127.0.0.1:" + string(port) + "/port")
		require.NoError(t, err)
		content, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		_ = response.Body.Close()
		require.Equal(t, port, content)
	}
	killSession(int(o.pid))
}

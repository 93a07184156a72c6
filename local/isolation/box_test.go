//go:build linux

package isolation_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

func TestBoxLooksLikeASandbox(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "looks", Envs: map[string]string{"A": "b"}})
	for script, want := range map[string]string{
		"id -un":                           "user\n",
		"id -u":                            "1000\n",
		"pwd":                              "/home/user\n",
		"hostname":                         "looks\n",
		"echo $E2B_SANDBOX $A":             "true b\n",
		"echo $E2B_SANDBOX_ID":             "looks\n",
		"echo $E2B_TEMPLATE_ID":            "base\n",
		"cat /run/e2b/.E2B_SANDBOX":        "true",
		"touch ~/x && stat -c %U ~/x":      "user\n",
		"stat -c %U /home/user":            "user\n",
		"ls /usr/local /opt /usr/etc":      "/opt:\n\n/usr/etc:\n\n/usr/local:\n",
		"echo $SSL_CERT_FILE":              isolation.CAPath + "\n",
		"grep -c BEGIN $PIP_CERT | grep .": run(t, b, "root", "grep -c BEGIN "+isolation.CAPath).Out,
		"python3 -c 'print(6*7)'":          "42\n",
		"ls /usr/lib/python3*/EXTERNALLY-MANAGED 2>/dev/null": "",
		"echo x > /dev/null; head -c 3 /dev/zero | wc -c":     "3\n",
		"sh -c 'exit 7'; echo $?":                             "7\n",
		"umask":                                               "0022\n",
		"getent hosts $(hostname) | wc -l":                    "1\n",
		"ls /proc/self/fd | wc -l":                            "4\n",
		"ulimit -c":                                           "0\n",
		"stat -c %a /tmp":                                     "1777\n",
	} {
		require.Equal(t, want, run(t, b, "user", script).Out, script)
	}
}

func TestBoxTrustsItsOwnBundle(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "trust", Trust: []byte("-- a bundle --\n")})
	require.Equal(t, "-- a bundle --\n", run(t, b, "user", "cat $SSL_CERT_FILE").Out)
}

func TestBoxRootOwnsItsSystem(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user's sandbox has one id")
	}
	b := start(t, open(t), isolation.Spec{ID: "owns"})
	for script, want := range map[string]string{
		"id -u":                         "0\n",
		"stat -c %u:%g /usr /usr/bin":   "0:0\n0:0\n",
		"touch /usr/bin/new && echo ok": "ok\n",
		"rm /usr/bin/env && echo ok":    "ok\n",
		"touch /tmp/f && chown 42:43 /tmp/f && stat -c %u:%g /tmp/f": "42:43\n",
		"touch /opt/x /usr/local/x && echo ok":                       "ok\n",
	} {
		require.Equal(t, want, run(t, b, "root", script).Out, script)
	}
	require.NotZero(t, run(t, b, "user", "touch /usr/bin/no").Code)
}

func TestBoxDialPort(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "ports"})
	run(t, b, "user", "(python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 &)")
	ctx := context.Background()
	require.Eventually(t, func() bool {
		c, err := b.DialPort(ctx, 8000)
		if err != nil {
			return false
		}
		defer c.Close()
		_, _ = io.WriteString(c, "GET / HTTP/1.0\r\n\r\n")
		all, _ := io.ReadAll(c)
		return strings.HasPrefix(string(all), "HTTP/1.0 200")
	}, 10*time.Second, 50*time.Millisecond)
	var closed *isolation.PortClosedError
	_, err := b.DialPort(ctx, 8001)
	require.ErrorAs(t, err, &closed)
	require.Equal(t, 8001, closed.Port)
	for _, port := range []int{-1, 0, 65536} {
		_, err := b.DialPort(ctx, port)
		require.Error(t, err)
	}
}

func TestBoxPauseKeepsProcessesAndMemory(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "pause"})
	run(t, b, "user", "(i=0; while :; do i=$((i+1)); echo $i > /tmp/n; sleep 0.01; done) >/dev/null 2>&1 &")
	ctx := context.Background()
	count := func() int {
		n, _ := strconv.Atoi(strings.TrimSpace(run(t, b, "user", "cat /tmp/n").Out))
		return n
	}
	require.Eventually(t, func() bool { return count() > 3 }, 5*time.Second, 10*time.Millisecond)
	for range 3 {
		require.NoError(t, b.Pause(ctx))
		require.NoError(t, b.Pause(ctx), "twice is once")
		cpu := usage(t, b).CPU
		time.Sleep(100 * time.Millisecond)
		require.Equal(t, cpu, usage(t, b).CPU, "nothing runs")
		require.NoError(t, b.Resume(ctx))
		require.NoError(t, b.Resume(ctx))
		before := count()
		require.Eventually(t, func() bool { return count() > before }, 5*time.Second, 10*time.Millisecond)
	}
}

func usage(t *testing.T, b *isolation.Box) isolation.Usage {
	t.Helper()
	u, err := b.Usage()
	require.NoError(t, err)
	return u
}

func TestBoxKilledWhilePaused(t *testing.T) {
	e := open(t)
	b := start(t, e, isolation.Spec{ID: "frozen"})
	require.NoError(t, b.Pause(context.Background()))
	require.NoError(t, b.Kill())
	require.NoError(t, b.Kill())
	ctx := context.Background()
	_, err := b.Dial(ctx)
	require.ErrorIs(t, err, isolation.ErrGone)
	_, err = b.DialPort(ctx, 80)
	require.ErrorIs(t, err, isolation.ErrGone)
	require.ErrorIs(t, b.Pause(ctx), isolation.ErrGone)
	require.ErrorIs(t, b.Resume(ctx), isolation.ErrGone)
	_, err = b.Usage()
	require.ErrorIs(t, err, isolation.ErrGone)
}

func TestBoxUsage(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "usage", MemoryMB: 512})
	before := usage(t, b)
	require.EqualValues(t, 512<<20, before.MemTotal)
	require.Positive(t, before.DiskTotal)
	run(t, b, "user", "head -c 20000000 /dev/urandom > ~/big; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
	after := usage(t, b)
	require.Greater(t, after.DiskUsed, before.DiskUsed+15_000_000)
	require.Positive(t, after.MemUsed)
	require.Positive(t, after.CPU)
	require.Positive(t, after.Pids)
}

func TestBoxHostMounts(t *testing.T) {
	host := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(host), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(host, "in"), []byte("hello"), 0o600))
	b := start(t, open(t), isolation.Spec{ID: "mounts", Mounts: []isolation.Mount{
		{Source: host, Target: "/mnt/read"},
		{Source: host, Target: "/home/user/write", Write: true},
	}})
	require.Equal(t, "hello", run(t, b, "user", "cat /mnt/read/in").Out)
	require.NotZero(t, run(t, b, "user", "echo x > /mnt/read/out").Code)
	r := run(t, b, "user", "echo out > ~/write/out")
	require.Zero(t, r.Code, r.Out)
	content, err := os.ReadFile(filepath.Join(host, "out"))
	require.NoError(t, err)
	require.Equal(t, "out\n", string(content))
	fi, err := os.Stat(filepath.Join(host, "out"))
	require.NoError(t, err)
	require.True(t, fi.Mode().IsRegular())
	// Root inside leaves nothing that is set-user-ID to the host's root.
	if os.Geteuid() == 0 {
		require.NotZero(t, run(t, b, "root", "cp /bin/sh ~user/write/sh && chmod 4755 ~user/write/sh").Code)
	}
}

func TestEngineBadInput(t *testing.T) {
	e := open(t)
	for name, s := range map[string]isolation.Spec{
		"no id":            {},
		"path as id":       {ID: "../x"},
		"negative memory":  {ID: "x", MemoryMB: -1},
		"tiny disk":        {ID: "x", DiskMB: 1},
		"negative cpus":    {ID: "x", CPUs: -1},
		"relative mount":   {ID: "x", Mounts: []isolation.Mount{{Source: "tmp", Target: "/mnt/x"}}},
		"mount over proc":  {ID: "x", Mounts: []isolation.Mount{{Source: "/tmp", Target: "/proc/x"}}},
		"mount over root":  {ID: "x", Mounts: []isolation.Mount{{Source: "/tmp", Target: "/"}}},
		"mount of nothing": {ID: "x", Mounts: []isolation.Mount{{Source: "/does/not/exist", Target: "/mnt/x"}}},
		"bad egress":       {ID: "x", Internet: true, Egress: "/does/not/exist"},
	} {
		_, err := e.Start(context.Background(), s)
		require.Error(t, err, name)
	}
	_, err := e.Start(context.Background(), isolation.Spec{ID: "x", Template: "nope"})
	var unknown *isolation.UnknownTemplateError
	require.ErrorAs(t, err, &unknown)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = e.Start(ctx, isolation.Spec{ID: "y"})
	require.ErrorIs(t, err, context.Canceled)
	start(t, e, isolation.Spec{ID: "x"})
	_, err = e.Start(context.Background(), isolation.Spec{ID: "x"})
	require.ErrorContains(t, err, "exists")
}

func TestEngineNeedsAndTemplates(t *testing.T) {
	e := open(t)
	byName := map[string]isolation.Need{}
	for _, n := range e.Needs() {
		byName[n.Name] = n
		require.NotEmpty(t, n.Detail, n.Name)
	}
	require.Equal(t, isolation.Present, byName["namespaces"].State, byName["namespaces"].Detail)
	require.Equal(t, isolation.Present, byName["seccomp"].State)
	if os.Geteuid() == 0 {
		require.Equal(t, isolation.Root, e.Mode())
		require.Equal(t, isolation.Present, byName["idmapped mounts"].State, byName["idmapped mounts"].Detail)
	} else {
		require.Equal(t, isolation.Ordinary, e.Mode())
		require.Equal(t, isolation.Degraded, byName["mode"].State)
	}
	ids := []string{}
	for _, x := range e.Templates() {
		ids = append(ids, x.ID)
		start(t, e, isolation.Spec{ID: "of-" + x.ID, Template: x.ID})
	}
	require.Contains(t, ids, "base")
}

func TestEngineCloseEndsEverything(t *testing.T) {
	dir := t.TempDir()
	e, err := isolation.Open(context.Background(), isolation.Config{StateDir: dir})
	require.NoError(t, err)
	var boxes []*isolation.Box
	for i := range 3 {
		b, err := e.Start(context.Background(), isolation.Spec{ID: fmt.Sprint("c", i)})
		require.NoError(t, err)
		boxes = append(boxes, b)
	}
	require.NoError(t, e.Close())
	for _, b := range boxes {
		select {
		case <-b.Done():
		default:
			t.Fatal("a box outlived its engine")
		}
	}
	_, err = e.Start(context.Background(), isolation.Spec{ID: "late"})
	require.ErrorIs(t, err, isolation.ErrClosed)
	require.Equal(t, []string{"skeleton"}, names(t, dir))
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// traces counts what a sandbox could leave on this machine.
type traces struct {
	files, goroutines, mounts, groups int
}

// count looks at this process and at the groups of the engines in stateDir.
func count(t *testing.T, stateDir string) traces {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	groups := 0
	for _, name := range names(t, stateDir) {
		for _, pattern := range []string{"/sys/fs/cgroup/*/", "/sys/fs/cgroup/*/*/*/"} {
			found, err := filepath.Glob(pattern + name + "/*")
			require.NoError(t, err)
			groups += dirsOf(found)
		}
	}
	return traces{
		files: len(names(t, "/proc/self/fd")), goroutines: runtime.NumGoroutine(),
		mounts: strings.Count(string(mounts), "\n"), groups: groups,
	}
}

func dirsOf(paths []string) int {
	n := 0
	for _, p := range paths {
		if fi, err := os.Stat(p); err == nil && fi.IsDir() {
			n++
		}
	}
	return n
}

func TestBoxCyclesLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	e, err := isolation.Open(context.Background(), isolation.Config{StateDir: dir, Pool: -1})
	require.NoError(t, err)
	defer e.Close()
	cycle := func(i int) {
		b, err := e.Start(context.Background(), isolation.Spec{ID: fmt.Sprint("cycle", i)})
		require.NoError(t, err)
		require.NoError(t, b.Kill())
	}
	for i := range 3 {
		cycle(i)
	}
	before := count(t, dir)
	cycles := 100
	if testing.Short() {
		cycles = 10
	}
	for i := range cycles {
		cycle(i)
	}
	after := count(t, dir)
	for end := time.Now().Add(5 * time.Second); after != before && time.Now().Before(end); after = count(t, dir) {
		time.Sleep(20 * time.Millisecond)
	}
	require.Equal(t, before, after)
}

func TestBoxMemoryOfOurPart(t *testing.T) {
	if raced {
		t.Skip("the race detector needs more memory than all of our part")
	}
	e := open(t)
	for i := range 4 {
		start(t, e, isolation.Spec{ID: fmt.Sprint("mate", i)})
	}
	b := start(t, e, isolation.Spec{ID: "pss"})
	run(t, b, "user", "true")
	pids := []int{b.Pid()}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", b.Pid(), b.Pid()))
	for _, f := range strings.Fields(string(children)) {
		n, _ := strconv.Atoi(f)
		pids = append(pids, n)
	}
	total := 0
	for _, pid := range pids {
		total += pss(pid)
	}
	if total == 0 {
		t.Skip("this account may not read smaps of another user namespace")
	}
	t.Logf("PSS %d kB in %d processes", total, len(pids))
	require.Less(t, total, 8<<10)
}

func pss(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) > 1 && f[0] == "Pss:" {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}

//go:build linux

package isolation_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/local/isolation/syscalls"
)

// both are the accounts that a promise holds for.
var both = []string{"user", "root"}

func TestPromiseHostFilesAreOutOfReach(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("host-secret"), 0o644))
	b := start(t, open(t), isolation.Spec{ID: "files"})
	for _, user := range both {
		for _, path := range []string{
			secret, "/proc/1/root" + secret, "/proc/1/cwd/../../.." + secret, "/etc/ssh", "/etc/sudoers", "/var/log/syslog", "/boot/vmlinuz",
			"/dev/vda", "/dev/sda", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/net/tun", "/dev/loop-control", "/dev/kvm", "/old_root", "/work",
		} {
			r := run(t, b, user, "head -c 1 "+path+" >/dev/null 2>&1 || ls -A "+path+" 2>/dev/null | grep -q .")
			require.NotZero(t, r.Code, "%s reads %s: %s", user, path, r.Out)
		}
		require.Equal(t, "user\n", run(t, b, user, "ls /home").Out)
		require.Empty(t, run(t, b, user, "cat /root/.ssh/* /root/.bash_history 2>/dev/null").Out)
	}
	require.NotContains(t, run(t, b, "root", "cat /etc/shadow").Out, "$", "no password hash of anybody")
}

func TestPromiseHostFilesStayUntouched(t *testing.T) {
	before, err := os.ReadDir("/usr/bin")
	require.NoError(t, err)
	b := start(t, open(t), isolation.Spec{ID: "untouched"})
	r := run(t, b, "root", "echo x > /usr/bin/sandbox-was-here; echo x >> /usr/bin/env; rm -f /usr/bin/awk /usr/bin/head; rm -rf /usr/lib/python3; ls /usr/bin/sandbox-was-here")
	if os.Geteuid() == 0 {
		require.Zero(t, r.Code, r.Out)
	}
	after, err := os.ReadDir("/usr/bin")
	require.NoError(t, err)
	require.Len(t, after, len(before))
	require.NoFileExists(t, "/usr/bin/sandbox-was-here")
}

func TestPromiseEnvironmentOfTheHostIsHidden(t *testing.T) {
	t.Setenv("HOST_SECRET_VARIABLE", "host-secret")
	b := start(t, open(t), isolation.Spec{ID: "env", Token: "envd-secret", Envs: map[string]string{"MINE": "1"}})
	for _, user := range both {
		r := run(t, b, user, "env; cat /proc/*/environ /proc/*/cmdline /proc/*/task/*/environ 2>/dev/null | tr '\\0' '\\n'")
		require.NotContains(t, r.Out, "HOST_SECRET_VARIABLE", user)
		require.NotContains(t, r.Out, "envd-secret", user)
		require.Contains(t, r.Out, "MINE=1")
	}
}

func TestPromiseHostProcessesAreInvisible(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "procs"})
	for _, user := range both {
		r := run(t, b, user, "ls -d /proc/[0-9]* | wc -l")
		n, err := strconv.Atoi(strings.TrimSpace(r.Out))
		require.NoError(t, err)
		require.Less(t, n, 10)
		// By the number that the host gives it.
		r = run(t, b, user, "kill -0 "+strconv.Itoa(os.Getpid()))
		require.NotZero(t, r.Code)
	}
	r := run(t, b, "root", "kill -9 1; kill -TERM 1; kill -STOP 1; echo alive")
	require.Equal(t, "alive\n", r.Out)
	require.Equal(t, "alive\n", run(t, b, "user", "echo alive").Out)
}

func TestPromiseProcess1CannotBeTracedOrRead(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "trace"})
	for _, user := range both {
		r := play(t, b, command{User: user, Role: []string{"probe-ptrace", "1"}})
		require.Equal(t, 1, r.Code, "%s: %s", user, r.Out)
	}
}

func TestOrdinaryUserSideCannotBeTracedOrRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("only an ordinary user's sandbox has one")
	}
	b := start(t, open(t), isolation.Spec{ID: "side"})
	var pid string
	require.Eventually(t, func() bool { // it takes its name once it runs
		pid = strings.TrimSpace(run(t, b, "root", "pgrep -x sandboxc-user").Out)
		return pid != ""
	}, 10*time.Second, 50*time.Millisecond)
	r := play(t, b, command{User: "user", Role: []string{"probe-ptrace", pid}})
	require.Equal(t, 1, r.Code, r.Out)
	// Root inside made its user namespace and may trace it; the binary that it
	// runs, which belongs to the host's user, is on a read-only mount.
	for _, user := range both {
		r := run(t, b, user, "sh -c ': >> /proc/"+pid+"/exe' 2>&1; sh -c ': >> /proc/1/exe' 2>&1; sh -c ': >> "+inside+"' 2>&1")
		require.Equal(t, 3, strings.Count(r.Out, "cannot create"), r.Out)
		require.NotContains(t, r.Out, "busy", r.Out)
	}
	// Who kills it loses the sandbox's commands, and is told so.
	run(t, b, "root", "kill -9 "+pid)
	require.Eventually(t, func() bool {
		return strings.Contains(run(t, b, "user", "true").Out, "is gone")
	}, 5*time.Second, 20*time.Millisecond)
}

func TestPromiseTheKernelCannotBeChanged(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "kernel"})
	for _, user := range both {
		for _, script := range []string{
			"mount -t tmpfs none /mnt", "mount --bind / /mnt", "mount -o remount,rw /proc/sys", "umount /proc/sys", "umount -l /usr/bin/sudo",
			"unshare -r true", "unshare -n true", "unshare -m true", "nsenter -t 1 -m true", "insmod /nothing.ko", "modprobe loop",
			"echo 1 > /proc/sys/kernel/hostname", "echo 1 > /proc/sys/vm/overcommit_memory", "echo x > /proc/sys/kernel/core_pattern",
			"echo b > /proc/sysrq-trigger", "echo x > /sys/x", "mkdir /sys/x", "mknod /tmp/d b 8 0 && head -c1 /tmp/d",
			"mknod /tmp/m c 1 1 && head -c1 /tmp/m", "echo -1000 > /proc/1/oom_score_adj", "echo x > /usr/bin/sudo", "rm /usr/bin/sudo",
			"dmesg", "cat /proc/kcore | head -c 1 | grep .", "cat /proc/kallsyms | grep .", "cat /proc/keys | grep .", "hostname other",
			"swapon /tmp/x", "reboot -f", "date -s 2001-01-01", "ip link add dummy0 type dummy", "chroot /proc/1/root true",
			"find /sys -mindepth 1 | grep .",
		} {
			r := run(t, b, user, "("+script+") 2>&1")
			require.NotZero(t, r.Code, "%s: %s: %s", user, script, r.Out)
		}
	}
	require.Equal(t, "ok\n", run(t, b, "user", "echo ok").Out)
}

func TestPromiseCapabilitiesAndFilter(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "caps"})
	for user, caps := range map[string]string{"user": "0000000000000000", "root": "00000000800404fb"} {
		r := run(t, b, user, "cat /proc/self/status")
		for field, want := range map[string]string{
			"CapPrm": caps, "CapEff": caps, "CapInh": "0000000000000000", "CapAmb": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2",
		} {
			require.Contains(t, r.Out, field+":\t"+want, "%s %s", user, field)
		}
	}
	// The user namespace is another one than the host's.
	host, err := os.Readlink("/proc/self/ns/user")
	require.NoError(t, err)
	for _, user := range both {
		require.NotEqual(t, host+"\n", run(t, b, user, "readlink /proc/self/ns/user").Out)
	}
	// Nothing raises `user` again: set-user-ID programs of the host included.
	r := run(t, b, "user", "cp /bin/sh /tmp/sh && chmod 4755 /tmp/sh && /tmp/sh -p -c 'id -u'; su -c id -u 2>&1; id -u")
	require.NotContains(t, strings.Split(r.Out, "\n"), "0")
}

func TestPromiseDeniedSystemCalls(t *testing.T) {
	profile, err := syscalls.Default()
	require.NoError(t, err)
	info, err := arch.GetInfo("")
	require.NoError(t, err)
	want := map[string]unix.Errno{}
	names := map[string]string{}
	role := []string{"probe-syscalls"}
	add := func(list []string, e unix.Errno) {
		for _, name := range list {
			if n, ok := info.SyscallNames[name]; ok {
				key := strconv.Itoa(n)
				want[key], names[key] = e, name
				role = append(role, key)
			}
		}
	}
	add(profile.Denied, unix.EPERM)
	add(profile.NotImplemented, unix.ENOSYS)
	if info.Name == "x86_64" {
		want["0x40000027"], names["0x40000027"] = unix.ENOSYS, "x32 getpid"
		role = append(role, "0x40000027")
	}
	b := start(t, open(t), isolation.Spec{ID: "calls"})
	for _, user := range both {
		r := play(t, b, command{User: user, Role: role})
		require.Zero(t, r.Code, r.Out)
		var got map[string]int
		require.NoError(t, json.Unmarshal([]byte(r.Out), &got))
		for key, e := range want {
			require.Equal(t, e, unix.Errno(got[key]), "%s: %s", user, names[key])
		}
	}
}

func TestPromiseDeniedArguments(t *testing.T) {
	b := start(t, open(t), isolation.Spec{ID: "args"})
	for _, user := range both {
		r := play(t, b, command{User: user, Role: []string{"probe-args"}})
		var got map[string]int
		require.NoError(t, json.Unmarshal([]byte(r.Out), &got), r.Out)
		require.Len(t, got, 8)
		for name, e := range got {
			require.Equal(t, unix.EPERM, unix.Errno(e), "%s: %s", user, name)
		}
	}
}

func TestPromiseNoNetworkReachesNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	abstract, err := net.Listen("unix", fmt.Sprintf("@agent-sandbox-test-%d", os.Getpid()))
	require.NoError(t, err)
	defer abstract.Close()
	b := start(t, open(t), isolation.Spec{ID: "nonet"})
	script := `python3 - <<'E'
import socket
for a in [('127.0.0.1', %d), ('169.254.169.254', 80), ('10.0.0.1', 80), ('1.1.1.1', 53)]:
    try:
        socket.create_connection(a, 1); print('reached', a)
    except OSError: pass
s = socket.socket(socket.AF_UNIX)
try:
    s.connect('\0agent-sandbox-test-%d'); print('reached abstract')
except OSError: pass
try:
    socket.getaddrinfo('example.com', 80); print('resolved')
except OSError: pass
E`
	for _, user := range both {
		r := run(t, b, user, fmt.Sprintf(script, l.Addr().(*net.TCPAddr).Port, os.Getpid()))
		require.Empty(t, r.Out)
	}
}

func TestPromiseNeighboursAreInvisible(t *testing.T) {
	e := open(t)
	one := start(t, e, isolation.Spec{ID: "one"})
	two := start(t, e, isolation.Spec{ID: "two"})
	run(t, one, "user", "echo secret > /tmp/x; echo secret > /dev/shm/x; (sleep 1234 >/dev/null 2>&1 &)")
	r := run(t, two, "root", "cat /tmp/x /dev/shm/x 2>/dev/null; pgrep -fx 'sleep 1234'; ipcs -m | grep 0x")
	require.Empty(t, r.Out)
	if e.Mode() == isolation.Root {
		require.NotEqual(t, run(t, one, "root", "cat /proc/self/uid_map").Out, run(t, two, "root", "cat /proc/self/uid_map").Out)
	}
}

//go:build linux

package isolation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// roles are what this test binary does under another argv[0].
func roles() map[string]func([]string) int {
	return map[string]func([]string) int{
		"probe-syscalls": probeSyscalls,
		"probe-ptrace":   probePtrace,
		"probe-args":     probeArguments,
		"fork-bomb":      forkBomb,
		"eat-memory":     eatMemory,
		"hold-engine":    holdEngine,
	}
}

// probeSyscalls makes each call, given by number, without arguments and
// prints the error numbers as JSON.
func probeSyscalls(numbers []string) int {
	answers := map[string]int{}
	for _, s := range numbers {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			return 2
		}
		_, _, e := syscall.RawSyscall6(uintptr(n), 0, 0, 0, 0, 0, 0)
		answers[s] = int(e)
	}
	_ = json.NewEncoder(os.Stdout).Encode(answers)
	return 0
}

// probeArguments tries calls that are refused for their arguments.
func probeArguments([]string) int {
	answers := map[string]int{}
	try := func(name string, n, a, b, c uintptr) {
		_, _, e := syscall.RawSyscall(n, a, b, c)
		answers[name] = int(e)
	}
	try("socket vsock", unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	try("personality", unix.SYS_PERSONALITY, 0x0040000, 0, 0)
	try("unshare user", unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0)
	try("setns", unix.SYS_SETNS, 0, 0, 0)
	for name, flag := range map[string]uintptr{
		"clone user": unix.CLONE_NEWUSER, "clone ns": unix.CLONE_NEWNS, "clone net": unix.CLONE_NEWNET, "clone pid": unix.CLONE_NEWPID,
	} {
		pid, _, e := syscall.RawSyscall6(unix.SYS_CLONE, flag|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if e == 0 && pid == 0 {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		answers[name] = int(e)
	}
	_ = json.NewEncoder(os.Stdout).Encode(answers)
	return 0
}

// probePtrace tries to trace a process and to read its memory.
func probePtrace(args []string) int {
	pid, _ := strconv.Atoi(args[0])
	if err := unix.PtraceAttach(pid); err == nil {
		fmt.Println("traced")
		return 0
	}
	for _, f := range []string{"mem", "environ", "root/etc/passwd", "cwd/etc/passwd", "exe", "fd/0", "maps"} {
		if f, err := os.Open(fmt.Sprintf("/proc/%d/%s", pid, f)); err == nil {
			b := make([]byte, 1)
			if n, _ := f.Read(b); n == 1 {
				fmt.Println("read", f.Name())
				return 0
			}
		}
	}
	if f, err := os.OpenFile(fmt.Sprintf("/proc/%d/exe", pid), os.O_WRONLY, 0); err == nil {
		fmt.Println("wrote", f.Name())
		return 0
	}
	return 1
}

// forkBomb starts processes until it may not, and prints how many.
func forkBomb([]string) int {
	var pids []int
	for range 20000 {
		pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "60"}, &syscall.ProcAttr{})
		if err != nil {
			fmt.Println(len(pids))
			for _, p := range pids {
				_ = unix.Kill(p, unix.SIGKILL)
			}
			return 0
		}
		pids = append(pids, pid)
	}
	fmt.Println("no limit")
	return 1
}

// eatMemory takes so many MB and touches them.
func eatMemory(args []string) int {
	mb, _ := strconv.Atoi(args[0])
	var hold [][]byte
	for range mb {
		b, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			fmt.Println("refused after", len(hold))
			return 3
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		hold = append(hold, b)
	}
	fmt.Println("ate", len(hold))
	return 0
}

// holdEngine starts sandboxes and waits to be killed.
func holdEngine(args []string) int {
	n, _ := strconv.Atoi(args[1])
	e, err := isolation.Open(context.Background(), isolation.Config{StateDir: args[0], Pool: 1})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	time.Sleep(600 * time.Millisecond)
	var pids []string
	for i := range n {
		b, err := e.Start(context.Background(), isolation.Spec{ID: fmt.Sprint("held", i)})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		pids = append(pids, strconv.Itoa(b.Pid()))
		if i == 0 {
			if err := b.Pause(context.Background()); err != nil {
				fmt.Println(err)
				return 1
			}
		}
	}
	fmt.Println("ready", strings.Join(pids, " "))
	_, err = os.Stdin.Read(make([]byte, 1))
	return code(errors.Is(err, os.ErrClosed))
}

func code(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

//go:build linux

package guest

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keptCaps are what root inside keeps, all of them powerless outside of the
// sandbox's own user namespace: Docker's default set without mknod, raw
// sockets, audit and setpcap, which nothing that works inside needs.
const keptCaps = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER |
	1<<unix.CAP_FSETID | 1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID |
	1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_SYS_CHROOT | 1<<unix.CAP_SETFCAP

// confine drops every privilege that starting commands does not need, for
// good: no_new_privs, capabilities, bounding set, system calls.
func (p *process1) confine() error {
	p.victims = openVictims()
	// Nobody inside may open /proc/1/exe, trace process 1 or read its memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("dumpable: %w", err)
	}
	if err := dropCaps(); err != nil {
		return err
	}
	return loadFilter(p.cfg.Filter)
}

// dropCaps leaves keptCaps. In a binary without C code every thread drops;
// with C code the runtime cannot reach the others, and the calling thread,
// which starts all commands, is the one that counts. The bounding set is of
// use to the thread that starts commands only.
func dropCaps() error {
	last := lastCap()
	for c := uintptr(0); c <= last; c++ {
		if keptCaps&(1<<c) != 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("bounding set, capability %d: %w", c, err)
		}
	}
	hdr := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := new([2]unix.CapUserData)
	// The threads read them through plain numbers: they may not move.
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(hdr)
	pin.Pin(data)
	for i := range data {
		kept := uint32(uint64(keptCaps) >> (32 * i))
		data[i] = unix.CapUserData{Effective: kept, Permitted: kept}
	}
	err := everyThread(unix.SYS_CAPSET, uintptr(unsafe.Pointer(hdr)), uintptr(unsafe.Pointer(data)), 0)
	if err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

// lastCap is the highest capability that the kernel knows.
func lastCap() uintptr {
	var c uintptr
	for ; c < 64; c++ {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err != nil {
			break
		}
	}
	return c - 1
}

func everyThread(trap, a, b, c uintptr) error {
	_, _, e := syscall.AllThreadsSyscall(trap, a, b, c)
	if e == syscall.ENOTSUP {
		_, _, e = syscall.RawSyscall(trap, a, b, c)
	}
	if e != 0 {
		return e
	}
	return nil
}

// loadFilter sets no_new_privs and the seccomp program for all threads.
func loadFilter(program []byte) error {
	if len(program) == 0 || len(program)%8 != 0 {
		return errors.New("no seccomp program")
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	f := make([]unix.SockFilter, len(program)/8)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&f[0])), len(program)), program)
	fprog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	thread, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	if e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	// A thread that cannot take the filter is named instead of an error.
	if thread != 0 {
		return fmt.Errorf("seccomp: thread %d keeps its own filter", thread)
	}
	return nil
}

//go:build linux

package isolation

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// RefusedError says that this machine refuses the namespaces that a sandbox
// needs, which setting does it and how to change that. There is no silent
// downgrade.
type RefusedError struct {
	// Setting is a sysctl or the name of what refused.
	Setting string
	// Fix is the command or advice that mends it.
	Fix string
	// Err is the system's answer.
	Err error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("this machine refuses user namespaces (%s): %s", e.Setting, e.Fix)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// Settings that refuse user namespaces.
const (
	settingAppArmor = "kernel.apparmor_restrict_unprivileged_userns"
	settingClone    = "kernel.unprivileged_userns_clone"
	settingMax      = "user.max_user_namespaces"
	settingPolicy   = "seccomp or container policy"
)

// refusal explains why a namespace was refused, or gives err back.
func refusal(err error, mode Mode) error { return explain(err, mode, sysctl) }

// explain is refusal with the machine's settings as an argument.
func explain(err error, mode Mode, setting func(name string) int) error {
	if !refuses(err) {
		return err
	}
	switch {
	case setting(settingMax) == 0 || errors.Is(err, syscall.ENOSPC):
		return &RefusedError{settingMax, "run: sudo sysctl -w " + settingMax + "=15000", err}
	case mode == Ordinary && setting(settingClone) == 0:
		return &RefusedError{settingClone, "run: sudo sysctl -w " + settingClone + "=1", err}
	case mode == Ordinary && setting(settingAppArmor) == 1:
		return &RefusedError{settingAppArmor, "run: sandboxc doctor --fix (writes an AppArmor profile for the installed " +
			"binary; `go run` has a random path and cannot be helped), or: sudo sysctl -w " + settingAppArmor + "=0", err}
	}
	return &RefusedError{settingPolicy, "the process runs in a container or under a policy that forbids " +
		"new namespaces; run it outside, or allow them (for Docker: --privileged, or --security-opt seccomp=unconfined " +
		"--security-opt apparmor=unconfined --security-opt systempaths=unconfined)", err}
}

func refuses(err error) bool {
	for _, e := range []error{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EUSERS, syscall.EINVAL} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// sysctl reads an integer setting; -1 is absent.
func sysctl(name string) int {
	b, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return -1
	}
	return n
}

//go:build linux

package isolation

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// NeedState says how a need of the local provider is met.
type NeedState string

const (
	// Present is met.
	Present NeedState = "present"
	// Missing is not met: no sandbox starts.
	Missing NeedState = "missing"
	// Degraded is met in part: Detail says what does not work.
	Degraded NeedState = "degraded"
)

// Need is one thing that sandboxes need of this machine.
type Need struct {
	Name   string
	State  NeedState
	Detail string
	// Fix is the command or advice that mends it; "" when all is well.
	Fix string
}

// Needs tries what sandboxes need; it starts no sandbox and changes nothing.
func (e *Engine) Needs() []Need {
	return []Need{
		e.needMode(), e.needNamespaces(), needOverlay(), e.needMapped(), e.needLimits(), e.needDisk(), needSeccomp(),
	}
}

func (e *Engine) needMode() Need {
	if e.mode == Root {
		return Need{Name: "mode", State: Present, Detail: "root: sandboxes may change their own /usr, install packages and use several ids"}
	}
	return Need{
		Name: "mode", State: Degraded,
		Detail: "ordinary user: one id; packages go to the home directory or a virtual environment, apt does not work",
		Fix:    "run the server as root to lift that",
	}
}

func (e *Engine) needNamespaces() Need {
	n := Need{Name: "namespaces", State: Present, Detail: "user, mount, pid, network, ipc, uts and cgroup namespaces"}
	if err := e.tryNamespaces(); err != nil {
		n.State, n.Detail = Missing, err.Error()
		if r := new(RefusedError); errors.As(err, &r) {
			n.Detail, n.Fix = r.Setting+": "+r.Err.Error(), r.Fix
		}
	}
	return n
}

// tryNamespaces makes the namespaces of a sandbox and a mount in them. The
// mount tells: AppArmor lets the clone pass and takes the rights away.
func (e *Engine) tryNamespaces() error {
	p := &plot{}
	if e.mode == Root {
		ids, err := e.ids.take()
		if err != nil {
			return err
		}
		defer ids.free()
		p.ids = ids
	}
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", "mount -t tmpfs none /tmp"},
		Env: []string{"PATH=" + Path}, Dir: "/",
		SysProcAttr: p.namespaces(),
	}
	if err := cmd.Start(); err != nil {
		return refusal(err, e.mode)
	}
	if err := cmd.Wait(); err != nil {
		return refusal(fmt.Errorf("mount in a user namespace: %w", syscall.EPERM), e.mode)
	}
	return nil
}

func needOverlay() Need {
	b, _ := os.ReadFile("/proc/filesystems")
	if strings.Contains(string(b), "\toverlay\n") {
		return Need{Name: "overlayfs", State: Present, Detail: "each sandbox writes to a layer of its own over /usr"}
	}
	return Need{Name: "overlayfs", State: Missing, Detail: "the kernel does not list overlay", Fix: "run: sudo modprobe overlay"}
}

func (e *Engine) needMapped() Need {
	n := Need{Name: "idmapped mounts", State: Present, Detail: "root in a sandbox owns its /usr: apt, pip and chown work there"}
	if e.mode != Root {
		n.State, n.Detail = Degraded, "only root can make them: the system's own files cannot be changed inside"
		return n
	}
	maps := []syscall.SysProcIDMap{{ContainerID: 0, HostID: firstID, Size: rangeLen}}
	userns, err := heldNamespace(maps, maps)
	if err == nil {
		defer userns.Close()
		var tree *os.File
		if tree, err = detach("/usr", false); err == nil {
			defer tree.Close()
			err = mapIDs(tree, userns)
		}
	}
	if err != nil {
		n.State, n.Detail = Degraded, "the system's own files cannot be changed inside: "+err.Error()
		n.Fix = "use a kernel (5.19 or later) and a file system that support idmapped mounts"
	}
	return n
}

func (e *Engine) needLimits() Need {
	n := Need{Name: "limits", State: Present}
	var have, lack []string
	for _, c := range []string{"memory", "cpu", "pids"} {
		if e.groups.controllers[c] || e.groups.v1[c] != "" {
			have = append(have, c)
		} else {
			lack = append(lack, c)
		}
	}
	freezer := e.groups.v2 != "" || e.groups.v1["freezer"] != ""
	n.Detail = "enforced by control groups: " + strings.Join(have, ", ")
	if len(lack) > 0 {
		n.State = Degraded
		n.Detail = "no writable control group for: " + strings.Join(lack, ", ") + "; processes are limited by rlimits, memory per process only, CPU not at all"
		n.Fix = "run as root, or inside a systemd user service with delegation: systemd-run --user --scope -p Delegate=yes sandboxc serve"
	}
	if !freezer {
		n.Detail += "; pause stops processes by signals"
	}
	return n
}

func (e *Engine) needDisk() Need {
	n := Need{Name: "disk limit", State: Present, Detail: "enforced by a file system for each sandbox"}
	if e.mode != Root {
		n.State, n.Detail = Degraded, "watched each second, not enforced: only root can mount a file system for each sandbox"
		return n
	}
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		n.State, n.Detail, n.Fix = Degraded, "watched each second, not enforced: mkfs.ext4 is missing", "install e2fsprogs"
		return n
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		n.State, n.Detail, n.Fix = Degraded, "watched each second, not enforced: no loop devices", "run: sudo modprobe loop"
	}
	return n
}

func needSeccomp() Need {
	if err := unix.Prctl(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err != nil {
		return Need{Name: "seccomp", State: Missing, Detail: err.Error(), Fix: "use a kernel with CONFIG_SECCOMP_FILTER"}
	}
	return Need{Name: "seccomp", State: Present, Detail: "an allow list of system calls, Docker's default"}
}

//go:build linux

package isolation

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownedTree clones a host directory so that what belongs to the owner of the
// directory belongs to id inside, and nothing else to anybody inside: root in
// a sandbox cannot leave files of the host's root behind.
func ownedTree(path string, id int) (*os.File, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%s: no owner", path)
	}
	userns, err := pairNamespace(int(st.Uid), int(st.Gid), id)
	if err != nil {
		return nil, err
	}
	defer userns.Close()
	tree, err := detach(path, false)
	if err != nil {
		return nil, err
	}
	if err := mapIDs(tree, userns); err != nil {
		_ = tree.Close()
		return nil, err
	}
	return tree, nil
}

// pairNamespace makes a user namespace that maps one id.
func pairNamespace(uid, gid, host int) (*os.File, error) {
	return heldNamespace(
		[]syscall.SysProcIDMap{{ContainerID: uid, HostID: host, Size: 1}},
		[]syscall.SysProcIDMap{{ContainerID: gid, HostID: host, Size: 1}},
	)
}

// heldNamespace makes a user namespace with the help of a process that waits
// for the end of its input; the descriptor keeps the namespace afterwards.
func heldNamespace(uids, gids []syscall.SysProcIDMap) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	defer w.Close()
	cmd := &exec.Cmd{
		Path: "/bin/cat", Args: []string{"cat"}, Env: []string{}, Dir: "/", Stdin: r,
		SysProcAttr: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: uids, GidMappings: gids},
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	userns, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", cmd.Process.Pid))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return userns, err
}

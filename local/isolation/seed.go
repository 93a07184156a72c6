//go:build linux

package isolation

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strconv"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// seed is a sandbox before it is anyone's: its plot and, when it has been
// started, process 1 in its namespaces and groups, waiting for its boot
// message. A process that waits knows nothing yet that sets sandboxes apart.
type seed struct {
	plot    *plot
	cage    *cage
	cmd     *exec.Cmd
	control *net.UnixConn
	// hidden are the directories that do not appear in its root; nil = it has no
	// root yet.
	hidden []string
}

// started tells whether the seed has a process.
func (s *seed) started() bool { return s.cmd != nil }

// start clones process 1 into its namespaces. It waits for its boot message.
func (s *seed) start(e *Engine, spec Spec) error {
	ours, theirs, err := boot.Pair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := &exec.Cmd{
		Path:        "/proc/self/fd/" + strconv.Itoa(boot.BinaryFD),
		Args:        []string{boot.InitName},
		Env:         []string{},
		Dir:         "/",
		ExtraFiles:  []*os.File{theirs, e.binary},
		SysProcAttr: s.plot.namespaces(),
	}
	c := e.groups.newCage(spec)
	if err := c.spawn(e.groups, cmd); err != nil {
		_ = ours.Close()
		return errors.Join(refusal(err, e.mode), c.remove())
	}
	s.cage, s.cmd, s.control = c, cmd, ours
	return nil
}

// stop ends the process, if there is one.
func (s *seed) stop() {
	if !s.started() {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	_ = s.control.Close()
	_ = s.cage.remove()
	s.cage, s.cmd, s.control, s.hidden = nil, nil, nil, nil
}

func (s *seed) free() error {
	s.stop()
	return s.plot.free()
}

//go:build linux

package isolation

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStopTreeStopsWhatStartsProgramsAllTheTime(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "while true; do true & wait; /bin/true; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	for range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		// A shell that waits for the child that it has vforked, which was stopped
		// before it became a program, never gets as far as to stop.
		err := poll(ctx, func() (bool, error) { return stopTree(cmd.Process.Pid) })
		cancel()
		require.NoError(t, err)
		require.NoError(t, continueTree(cmd.Process.Pid))
		time.Sleep(time.Millisecond)
	}
}

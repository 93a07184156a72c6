package main

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestManyRunsAtOnceShareAStateDirectory(t *testing.T) {
	needRoot(t)
	p := newProgram(t)
	const many = 12
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			cmd := p.command("run", "--", "sh", "-c", "echo $1; exit $1", "sh", strconv.Itoa(i))
			out, _ := cmd.Output()
			if string(out) != strconv.Itoa(i)+"\n" || cmd.ProcessState.ExitCode() != i {
				t.Errorf("run %d gave %q and %d", i, out, cmd.ProcessState.ExitCode())
			}
		})
	}
	wg.Wait()
	require.False(t, t.Failed())
	p.leavesNothing()
}

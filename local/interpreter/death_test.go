package interpreter

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAKernelThatWasKilledSaysByWhomAsFarAsIsKnown(t *testing.T) {
	kills := int64(3)
	count := func() int64 { return kills }
	for name, c := range map[string]struct {
		kernel *kernel
		want   string
	}{
		"nobody counts":              {&kernel{}, "the kernel's process was killed (SIGKILL): most likely the sandbox ran out of memory"},
		"the system killed one more": {&kernel{oomKills: count, oomKillsBefore: 2}, "the kernel's process was killed (SIGKILL): the sandbox ran out of memory"},
		"the system killed none":     {&kernel{oomKills: count, oomKillsBefore: 3}, "the kernel's process was killed (SIGKILL)"},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, died(syscall.WaitStatus(syscall.SIGKILL), "", c.kernel.memoryKilled()), c.want)
		})
	}
}

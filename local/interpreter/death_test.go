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
		count func() int64
		since int64
		want  string
	}{
		"nobody counts":              {nil, 0, "the kernel's process was killed (SIGKILL): most likely the sandbox ran out of memory"},
		"the system killed one more": {count, 2, "the kernel's process was killed (SIGKILL): the sandbox ran out of memory"},
		"the system killed none":     {count, 3, "the kernel's process was killed (SIGKILL)"},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, died(syscall.WaitStatus(syscall.SIGKILL), "", (&memoryKills{count: c.count}).take(c.since)), c.want)
		})
	}
}

func TestAKillForWantOfMemoryIsThatOfOneKernel(t *testing.T) {
	kills := int64(0)
	m := &memoryKills{count: func() int64 { return kills }}
	kills = 1
	require.Equal(t, memoryKillYes, m.take(0))
	require.Equal(t, memoryKillNo, m.take(0), "another kernel was there before, too, but another one was killed")
	kills = 3
	require.Equal(t, memoryKillYes, m.take(0))
	require.Equal(t, memoryKillYes, m.take(0), "two at once")
	require.Equal(t, memoryKillNo, m.take(0))
	kills = 4
	require.Equal(t, memoryKillNo, m.take(4), "it was asked something after the last kill")
}

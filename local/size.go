//go:build linux

package local

import (
	"math"

	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// size is what a sandbox was given. The wire knows whole cores only.
type size struct {
	cpus, memoryMB, diskMB int
}

func sizeOf(n *api.NewSandbox) size {
	s := size{cpus: isolation.DefaultCPUs, memoryMB: isolation.DefaultMemoryMB, diskMB: isolation.DefaultDiskMB}
	if n.CPUCount != nil {
		s.cpus = int(math.Ceil(*n.CPUCount))
	}
	if n.MemoryMB != nil {
		s.memoryMB = int(*n.MemoryMB)
	}
	if n.DiskSizeMB != nil {
		s.diskMB = int(*n.DiskSizeMB)
	}
	return s
}

func limits(of []isolation.Limit) []api.Limit {
	list := make([]api.Limit, len(of))
	for i, l := range of {
		list[i] = api.Limit{Name: l.Name, Value: l.Value, Enforced: l.Enforced, Why: l.Why}
	}
	return list
}

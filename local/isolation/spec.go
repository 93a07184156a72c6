//go:build linux

package isolation

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Spec says what sandbox to start. ID is required; the zero value of the rest
// is a base sandbox without network and with default limits.
type Spec struct {
	ID       string
	Template string // "" is base
	Token    string
	Envs     map[string]string
	// Internet gives the sandbox a relay; without it there is no route.
	Internet bool
	// Egress is the unix socket of the relay's host side.
	Egress string
	// Trust is the PEM bundle inside; nil is the host's own.
	Trust []byte
	// CPUs in cores, MemoryMB, DiskMB, Pids: 0 is the default.
	CPUs                   float64
	MemoryMB, DiskMB, Pids int
	Mounts                 []Mount
	// Background gives it little of the processors until it is claimed.
	Background bool
	// Layer, if set, is an empty directory that takes what the sandbox writes, in
	// place of a disk of its own. When the sandbox has ended it is a layer for
	// Template.Layers.
	Layer string
}

// Mount shows a host directory inside.
type Mount struct {
	Source, Target string
	Write          bool
}

// Defaults of a sandbox, E2B's.
const (
	DefaultCPUs     = 2
	DefaultMemoryMB = 1024
	DefaultDiskMB   = 4096
	DefaultPids     = 1024
)

func (s Spec) withDefaults() Spec {
	if s.Template == "" {
		s.Template = "base"
	}
	if s.CPUs == 0 {
		s.CPUs = DefaultCPUs
	}
	if s.MemoryMB == 0 {
		s.MemoryMB = DefaultMemoryMB
	}
	if s.DiskMB == 0 {
		s.DiskMB = DefaultDiskMB
	}
	if s.Pids == 0 {
		s.Pids = DefaultPids
	}
	return s
}

// hasDefaultLimits tells whether a process that was started with the default
// limits may become this sandbox.
func (s Spec) hasDefaultLimits() bool {
	return s.CPUs == DefaultCPUs && s.MemoryMB == DefaultMemoryMB && s.DiskMB == DefaultDiskMB && s.Pids == DefaultPids
}

// minimum sizes below which a sandbox cannot work.
const (
	minMemoryMB = 32
	minDiskMB   = 16
	minPids     = 16
)

func (s Spec) validate() error {
	switch {
	case s.ID == "" || strings.ContainsAny(s.ID, "/\x00\n") || len(s.ID) > 64:
		return errors.New("invalid sandbox id")
	case s.CPUs < 0.01 || s.MemoryMB < minMemoryMB || s.DiskMB < minDiskMB || s.Pids < minPids:
		return fmt.Errorf("limits too small: at least 0.01 CPUs, %d MB memory, %d MB disk, %d processes",
			minMemoryMB, minDiskMB, minPids)
	}
	for _, m := range s.Mounts {
		if err := m.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (m Mount) validate() error {
	if !path.IsAbs(m.Source) || !path.IsAbs(m.Target) {
		return fmt.Errorf("mount %s: paths must be absolute", m.Target)
	}
	t := path.Clean(m.Target)
	for _, own := range []string{"/", "/proc", "/dev", "/sys", "/run/sandboxc", "/usr", "/etc"} {
		if t == own || strings.HasPrefix(t, own+"/") && own != "/" && own != "/usr" && own != "/etc" {
			return fmt.Errorf("mount %s: the sandbox's own", m.Target)
		}
	}
	return nil
}

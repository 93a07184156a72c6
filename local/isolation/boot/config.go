// Package boot is what the host side tells the first process of a sandbox,
// and how: one JSON document and named file descriptors over the control
// socket that the process inherits. Nothing of it is ever in an argument or
// in the environment.
package boot

import "strings"

// UpperDir and WorkDir, followed by the number of a layer, are the directories
// of the tree FDDisk.
const (
	UpperDir = "up"
	WorkDir  = "work"
)

// LayerDir is the directory, in a layer of a template, that lies below the writes
// at target.
func LayerDir(target string) string { return strings.ReplaceAll(target, "/", "@") }

// EtcLinks are the files of /etc that differ from sandbox to sandbox: links
// into RunDir, so that a start writes nothing to the disk.
var EtcLinks = [...]string{"hostname", "hosts", "resolv.conf"}

// RunDir holds them, and the sockets of process 1.
const RunDir = "/run/sandboxc"

// Argv0 values by which the re-executed binary knows its role.
const (
	// InitName is argv[0] of process 1 of a sandbox.
	InitName = "sandboxc-init"
	// UserSideName is argv[0] of the process that starts the commands of
	// `user` when the server is run by an ordinary user.
	UserSideName = "sandboxc-user"
	// SudoName is argv[0] of the sudo inside a sandbox.
	SudoName = "sudo"
)

// ControlFD is the number of the control socket in process 1.
const ControlFD = 3

// BinaryFD is the number of the descriptor that process 1 was executed from,
// which it closes.
const BinaryFD = 4

// Names of the file descriptors of a Config.
const (
	// FDDisk is the tree that takes what the sandbox writes.
	FDDisk = "disk"
	// FDBinary is the tree of this binary, for sudo.
	FDBinary = "binary"
	// FDEgress is the tree of the host side socket of the network relay.
	FDEgress = "egress"
	// FDMemoryEvents is the control group's file that counts kills for want of memory.
	FDMemoryEvents = "memory-events"
	// FDTrust is a file with the CA bundle.
	FDTrust = "trust"
	// FDMount, followed by a number, is a host directory to show inside.
	FDMount = "mount"
	// FDUnder, followed by a number, is a layer of the template.
	FDUnder = "under"
	// FDLower, followed by the target, is a host directory that lies below
	// the sandbox's own writes.
	FDLower = "lower"
)

// Config is all that process 1 needs to know. The zero value boots nothing.
type Config struct {
	SandboxID  string            `json:"sandbox_id"`
	TemplateID string            `json:"template_id"`
	Token      string            `json:"token"`
	Envs       map[string]string `json:"envs,omitempty"`
	Hostname   string            `json:"hostname"`
	// Ordinary is set when the server is run by an ordinary user: one id,
	// process 1 opens the trees itself.
	Ordinary bool `json:"ordinary,omitempty"`
	// Internet starts the relay; without it there is no route.
	Internet bool `json:"internet,omitempty"`
	// Layers are the overlays, outermost first; the first one is "/".
	Layers []Layer `json:"layers"`
	// Under are the layers of the template, topmost first: host paths, which only
	// an ordinary user's process opens. Each holds a LayerDir for every overlay
	// that a build wrote to.
	Under []string `json:"under,omitempty"`
	// Hidden are directories of a lower layer that appear empty.
	Hidden []string `json:"hidden,omitempty"`
	// Removed are files of a lower layer that do not appear.
	Removed []string `json:"removed,omitempty"`
	Mounts  []Mount  `json:"mounts,omitempty"`
	// Disk, Binary, Egress are host paths, used by an ordinary user only.
	Disk   string `json:"disk,omitempty"`
	Binary string `json:"binary,omitempty"`
	Egress string `json:"egress,omitempty"`
	// CA is the path of the CA bundle inside, "" = none.
	CA string `json:"ca,omitempty"`
	// Filter is the seccomp program, 8 bytes an instruction.
	Filter []byte `json:"filter"`
	// CPUs and MemoryBytes are the limits, to report.
	CPUs        float64 `json:"cpus"`
	MemoryBytes int64   `json:"memory_bytes"`
	// SharedBytes bounds /dev/shm.
	SharedBytes int64 `json:"shared_bytes"`
	// Rlimits are set on process 1 before it starts anything.
	Rlimits []Rlimit `json:"rlimits,omitempty"`
	// DataBytes bounds the data of each command's processes (RLIMIT_DATA) where
	// no control group bounds their sum; 0 = no bound.
	DataBytes int64 `json:"data_bytes,omitempty"`
	// FDs names the descriptors that came with the message, in order.
	FDs []string `json:"fds"`
}

// Claim is what sets a sandbox that was made in advance apart from others.
type Claim struct {
	// Envs are the owner's variables.
	Envs map[string]string `json:"envs,omitempty"`
	// Internet false closes the way out for good.
	Internet bool `json:"internet,omitempty"`
	// CPUs and MemoryBytes are the limits, to report.
	CPUs        float64 `json:"cpus"`
	MemoryBytes int64   `json:"memory_bytes"`
}

// Layer is one overlay: what the sandbox writes at Target lies over Lower.
type Layer struct {
	Target string `json:"target"`
	// Lower is the host path, used by an ordinary user only.
	Lower string `json:"lower,omitempty"`
}

// Mount shows a host directory inside.
type Mount struct {
	Source string `json:"source,omitempty"`
	Target string `json:"target"`
	Write  bool   `json:"write,omitempty"`
}

// Rlimit is one resource limit (numbers of setrlimit(2)), soft = hard.
type Rlimit struct {
	Resource int    `json:"resource"`
	Value    uint64 `json:"value"`
}

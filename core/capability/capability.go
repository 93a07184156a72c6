// Package capability names what a provider can do. This is the one list
// (surface.md section 3).
package capability

import "slices"

// Capability is one thing a provider can do.
type Capability string

// The capabilities.
const (
	Create         Capability = "create"
	Connect        Capability = "connect"
	List           Capability = "list"
	ListMetadata   Capability = "list.metadata"
	Kill           Capability = "kill"
	Pause          Capability = "pause"
	PauseMemory    Capability = "pause.memory"
	AutoResume     Capability = "autoresume"
	Resume         Capability = "resume"
	Snapshot       Capability = "snapshot"
	Fork           Capability = "fork"
	Timeout        Capability = "timeout"
	Exec           Capability = "exec"
	ExecStream     Capability = "exec.stream"
	ExecBytes      Capability = "exec.bytes"
	ExecBackground Capability = "exec.background"
	ExecAttach     Capability = "exec.attach"
	ExecStdin      Capability = "exec.stdin"
	ExecSignal     Capability = "exec.signal"
	ExecUser       Capability = "exec.user"
	PTY            Capability = "pty"
	Files          Capability = "files"
	FilesDepth     Capability = "files.depth"
	FilesWatch     Capability = "files.watch"
	FilesRange     Capability = "files.range"
	URLsSigned     Capability = "urls.signed"
	Code           Capability = "code"
	CodeContexts   Capability = "code.contexts"
	CodeRich       Capability = "code.rich"
	Metrics        Capability = "metrics"
	Logs           Capability = "logs"
	Ports          Capability = "ports"
	Network        Capability = "network"
	NetworkUpdate  Capability = "network.update"
	Volumes        Capability = "volumes"
	Secrets        Capability = "secrets"
	Templates      Capability = "templates"
	NamedCommands  Capability = "named-commands"
)

// Set is what one provider can do.
type Set []Capability

// Has tells whether c is in s.
func (s Set) Has(c Capability) bool { return slices.Contains(s, c) }

// Plus is s with more.
func (s Set) Plus(more ...Capability) Set { return append(slices.Clone(s), more...) }

// Envd is what every backend with an envd data plane can do.
func Envd() Set {
	return Set{
		Create, Connect, List, ListMetadata, Kill, Pause, PauseMemory, AutoResume, Resume, Timeout,
		Exec, ExecStream, ExecBytes, ExecBackground, ExecAttach, ExecStdin, ExecSignal, ExecUser, PTY,
		Files, FilesDepth, FilesWatch, FilesRange, URLsSigned, Metrics, Ports, Network, NetworkUpdate,
	}
}

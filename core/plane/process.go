// Package plane says what the data plane of a sandbox can do: processes, files,
// watching. Each family of backends implements it once (envd for E2B's).
package plane

import (
	"context"
	"time"
)

// Selector names a running process: by PID, or by Tag when PID is 0.
type Selector struct {
	PID uint32
	Tag string
}

// Size of a terminal, in characters.
type Size struct {
	Cols uint32
	Rows uint32
}

// StartSpec describes a process to start.
type StartSpec struct {
	Cmd   string
	Args  []string // without argv[0]
	Envs  map[string]string
	Cwd   string // "" = the user's default
	User  string // "" = the sandbox's default user
	Tag   string
	PTY   *Size // nil = pipes
	Stdin bool  // false = /dev/null
}

// Watch bounds how long the caller follows a process.
type Watch struct {
	Command time.Duration // the process may run this long; 0 = no limit
	Request time.Duration // until the process has started; 0 = no limit
	Idle    time.Duration // without a sign of life from the peer; 0 = no limit
	// Kill ends the process, if it is to be ended, when clock fired; pid is 0 before
	// it has started. It tells whether the process is known to be gone, and returns
	// when ctx ends, though it may go on.
	Kill func(ctx context.Context, clock string, pid uint32) bool
}

// Patience is how long a caller waits for what is asked after a clock fired or a
// cancel: whether the sandbox lives, whether the process is gone.
const Patience = time.Second

// Channel tells output apart.
type Channel uint8

// The channels of a process's output.
const (
	Stdout Channel = iota
	Stderr
	PTY
)

// Sink takes what a process does, in order. An error ends the stream. Bytes are
// valid until the method returns.
type Sink interface {
	Started(pid uint32) error
	Output(ch Channel, b []byte) error
}

// End is the end event as it came.
type End struct {
	ExitCode int
	Exited   bool
	Status   string
	Error    string
}

// ProcessInfo is one entry of a process list.
type ProcessInfo struct {
	PID  uint32            `json:"pid"`           // its process id
	Tag  string            `json:"tag,omitempty"` // the name that it was started with
	Cmd  string            `json:"cmd"`           // the program
	Args []string          `json:"args"`          // without the program itself
	Envs map[string]string `json:"envs"`          // what it was given over the sandbox's own
	Cwd  string            `json:"cwd,omitempty"` // where it was started
}

// Signal is a signal number that a data plane delivers.
type Signal int

// The signals of E2B's envd (e2b.md 3.4).
const (
	SIGKILL Signal = 9
	SIGTERM Signal = 15
)

// Process is the part of a data plane that runs commands.
type Process interface {
	// Start runs a process and follows it to its end event. A nil End with a
	// nil error does not occur: a missing end event is an error.
	Start(ctx context.Context, spec StartSpec, watch Watch, sink Sink) (*End, error)
	// Attach follows a process that is already running.
	Attach(ctx context.Context, sel Selector, watch Watch, sink Sink) (*End, error)
	List(ctx context.Context) ([]ProcessInfo, error)
	SendInput(ctx context.Context, sel Selector, pty bool, b []byte) error
	// StreamInput sends what next gives, in one call, until io.EOF.
	StreamInput(ctx context.Context, sel Selector, pty bool, next func(context.Context) ([]byte, error)) error
	CloseStdin(ctx context.Context, sel Selector) error
	Signal(ctx context.Context, sel Selector, sig Signal) error
	Resize(ctx context.Context, sel Selector, size Size) error
}

package core

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// CommandResult is how a command ended: exited, or killed by a signal. A
// non-zero exit is a result, not an error.
type CommandResult struct {
	ExitCode      int    // 128+n when killed by signal n
	Signal        string // "killed", "terminated", ... ; "" when it exited by itself
	ErrorText     string // the sandbox's words about the end; may be empty
	StdoutBytes   []byte // exact; nil when output was not retained
	StderrBytes   []byte
	ExecutionTime time.Duration
}

// OK tells whether the command exited with 0.
func (r *CommandResult) OK() bool { return r.ExitCode == 0 && r.Signal == "" }

// Stdout is the output as text; broken UTF-8 becomes U+FFFD.
func (r *CommandResult) Stdout() string { return toText(r.StdoutBytes) }

// Stderr is the error output as text.
func (r *CommandResult) Stderr() string { return toText(r.StderrBytes) }

// MarshalJSON writes the text view under the names of every language.
func (r *CommandResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Stdout        string  `json:"stdout"`
		Stderr        string  `json:"stderr"`
		ExitCode      int     `json:"exit_code"`
		Signal        string  `json:"signal,omitempty"`
		ExecutionTime float64 `json:"execution_time"` // seconds
		Error         string  `json:"error,omitempty"`
	}{r.Stdout(), r.Stderr(), r.ExitCode, r.Signal, r.ExecutionTime.Seconds(), r.ErrorText})
}

// signals by the words of Go's syscall.Signal.String, which envd prints.
var signals = map[string]int{
	"hangup": 1, "interrupt": 2, "quit": 3, "illegal instruction": 4, "trace/breakpoint trap": 5, "aborted": 6, "bus error": 7,
	"floating point exception": 8, "killed": 9, "user defined signal 1": 10, "segmentation fault": 11, "user defined signal 2": 12,
	"broken pipe": 13, "alarm clock": 14, "terminated": 15, "stack fault": 16, "cpu time limit exceeded": 24, "file size limit exceeded": 25,
	"bad system call": 31,
}

// ended applies the rule of surface.md 5: exited with its code; else a status
// that starts with "signal:" was killed, whatever the code; else unknown,
// never 0.
func (r *CommandResult) ended(end *plane.End) error {
	r.ErrorText = end.Error
	if end.Exited {
		r.ExitCode = end.ExitCode
		return nil
	}
	name, killed := strings.CutPrefix(end.Status, "signal:")
	if !killed {
		r.ExitCode = -1
		said := end.Status
		if said == "" {
			said = end.Error
		}
		return fault.New(fault.CodeExecution, "the sandbox did not say how the command ended (status %q)", shorten(said))
	}
	name = strings.TrimSuffix(strings.TrimSpace(name), " (core dumped)")
	r.Signal = name
	r.ExitCode = 128 + signalNumber(name)
	return nil
}

func signalNumber(name string) int {
	if n, ok := signals[name]; ok {
		return n
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "signal "))
	return n
}

// blocks keeps output in pieces, so that keeping it is linear and costs one
// copy at the end.
type blocks struct {
	full [][]byte
	last []byte
}

const (
	firstBlock   = 4 << 10
	largestBlock = 1 << 20
)

func (k *blocks) write(b []byte) {
	for len(b) > 0 {
		if len(k.last) == cap(k.last) {
			k.grow(len(b))
		}
		n := min(len(b), cap(k.last)-len(k.last))
		k.last = append(k.last, b[:n]...)
		b = b[n:]
	}
}

func (k *blocks) grow(need int) {
	size := max(firstBlock, min(2*cap(k.last), largestBlock), min(need, largestBlock))
	if k.last != nil {
		k.full = append(k.full, k.last)
	}
	k.last = make([]byte, 0, size)
}

// join gives everything and empties k, so that it is held once.
func (k *blocks) join() []byte {
	if len(k.full) == 0 {
		b := k.last
		k.last = nil
		return b
	}
	total := len(k.last)
	for _, b := range k.full {
		total += len(b)
	}
	all := make([]byte, 0, total)
	for i, b := range k.full {
		all = append(all, b...)
		k.full[i] = nil
	}
	all = append(all, k.last...)
	*k = blocks{}
	return all
}

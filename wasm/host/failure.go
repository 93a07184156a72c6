package host

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Failure is an ERROR of the core, or one that the host makes in its place.
type Failure struct {
	Code         string          `json:"code"`
	Message      string          `json:"message"`
	Suggestion   string          `json:"suggestion,omitempty"`
	Option       string          `json:"option,omitempty"`
	Docs         string          `json:"docs,omitempty"`
	CauseText    string          `json:"cause,omitempty"`
	Status       int             `json:"status,omitempty"`
	RequestID    string          `json:"request_id,omitempty"`
	Retryable    bool            `json:"retryable,omitempty"`
	RetryAfterMS int64           `json:"retry_after_ms,omitempty"`
	Kind         string          `json:"kind,omitempty"`
	Clock        string          `json:"clock,omitempty"`
	LimitMS      int64           `json:"limit_ms,omitempty"`
	Killed       bool            `json:"killed,omitempty"`
	SandboxID    string          `json:"sandbox_id,omitempty"`
	PID          uint32          `json:"pid,omitempty"`
	Partial      json.RawMessage `json:"partial,omitempty"` // without the output, which the host keeps
	Cancelled    bool            `json:"cancelled,omitempty"`

	cause error
}

func (f *Failure) Error() string {
	if f.Suggestion == "" {
		return f.Code + ": " + f.Message
	}
	return f.Code + ": " + f.Message + " (" + f.Suggestion + ")"
}

// Unwrap gives the host's own error behind it; a cancelled one is
// context.Canceled.
func (f *Failure) Unwrap() error {
	if f.Cancelled && !errors.Is(f.cause, context.Canceled) {
		return errors.Join(context.Canceled, f.cause)
	}
	return f.cause
}

// Codes of failures that a host makes.
const (
	codeCancelled = "E5006"
	codeInternal  = "E9000"
)

func cancelled(cause error) *Failure {
	return &Failure{Code: codeCancelled, Message: "the caller cancelled", Cancelled: true, cause: cause}
}

// ended is what live operations get when the machine has.
func ended(why error) *Failure {
	return &Failure{
		Code: codeInternal, Message: why.Error(), Suggestion: "this is a bug of ours: please report it; the next call works", cause: why,
	}
}

// netFailure is the JSON of HTTP_ERROR and WS_CLOSED.
type netFailure struct {
	Kind    string `json:"kind"`
	Host    string `json:"host,omitempty"`
	Message string `json:"message"`
	Clock   string `json:"clock,omitempty"`
	LimitMS int64  `json:"limit_ms,omitempty"`
}

// Kinds of failure that no network has.
const (
	kindDamaged = "damaged" // a compressed body cannot be undone
	kindSource  = "source"  // what the caller sends cannot be read
)

func failureJSON(err error) []byte {
	f := netFailure{Kind: string(transport.NetOther), Message: err.Error()}
	var net *transport.NetError
	var clock transport.Timeout
	var damaged *damagedError
	var source *sourceError
	switch {
	case errors.As(err, &damaged):
		f.Kind = kindDamaged
	case errors.As(err, &clock):
		f.Clock, f.LimitMS = clock.Clock, int64(clock.After/time.Millisecond)
	case errors.As(err, &net):
		f.Kind, f.Host, f.Message = string(net.Kind), net.Host, net.Message
	case errors.As(err, &source):
		f.Kind = kindSource
	}
	b, _ := json.Marshal(f)
	return b
}

func failureText(f *Failure) []byte {
	b, _ := json.Marshal(f)
	return b
}

// sourceError is a source of the caller that cannot be read.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

package output

import (
	"errors"
	"io/fs"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// errorsPage explains every code; errors that know a better page name it.
const errorsPage = "docs/errors.md"

// failure is an error as --json prints it.
type failure struct {
	Code       fault.Code `json:"code"`
	Message    string     `json:"message"`
	Suggestion string     `json:"suggestion,omitempty"`
	Option     string     `json:"option,omitempty"`
	Docs       string     `json:"docs"`
	Status     int        `json:"status,omitempty"`
	RequestID  string     `json:"request_id,omitempty"`
	Retryable  bool       `json:"retryable,omitempty"`
	RetryAfter float64    `json:"retry_after,omitempty"` // seconds
	Kind       string     `json:"kind,omitempty"`
	Clock      string     `json:"clock,omitempty"`
	Limit      float64    `json:"limit,omitempty"` // seconds
	Killed     bool       `json:"killed,omitempty"`
	SandboxID  string     `json:"sandbox_id,omitempty"`
	PID        uint32     `json:"pid,omitempty"`
	Partial    any        `json:"partial,omitempty"`
}

// Explain makes any error one of ours, in the words of a command line. Files of this machine are arguments of
// the caller; what nobody expected is E9000.
func Explain(err error) *fault.Error {
	if e := fault.As(err); e != nil {
		mine := *e
		mine.Message, mine.Suggestion = e.Spelled(flag)
		return &mine
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return fault.InvalidArgument("%s: %v", path.Path, path.Err).Because(err)
	}
	return fault.New(fault.CodeInternal, "%v", err).Because(err)
}

func newFailure(e *fault.Error) failure {
	f := failure{
		Code: e.Code, Message: e.Message, Suggestion: e.Suggestion, Option: shownFlag(e.Option), Docs: page(e), Status: e.Status, RequestID: e.RequestID,
		Retryable: e.Retryable, RetryAfter: e.RetryAfter.Seconds(), Kind: e.Kind, Clock: e.Clock, Limit: e.Limit.Seconds(),
		Killed: e.Killed, SandboxID: e.SandboxID, PID: e.PID, Partial: e.Partial,
	}
	if f.Code == "" {
		f.Code = fault.CodeInternal
	}
	return f
}

func page(e *fault.Error) string {
	if e.Docs != "" {
		return e.Docs
	}
	return errorsPage
}

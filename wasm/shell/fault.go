package shell

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/method"
)

// failed is the JSON of an ERROR.
type failed struct {
	Code            fault.Code   `json:"code"`
	Message         string       `json:"message"`
	MessageParts    []part       `json:"message_parts,omitempty"`
	Suggestion      string       `json:"suggestion,omitempty"`
	SuggestionParts []part       `json:"suggestion_parts,omitempty"`
	Option          fault.Option `json:"option,omitempty"`
	Docs            string       `json:"docs,omitempty"`
	Cause           string       `json:"cause,omitempty"`
	Status          int          `json:"status,omitempty"`
	RequestID       string       `json:"request_id,omitempty"`
	Retryable       bool         `json:"retryable,omitempty"`
	RetryAfterMS    int64        `json:"retry_after_ms,omitempty"`
	Kind            string       `json:"kind,omitempty"`
	Clock           string       `json:"clock,omitempty"`
	LimitMS         int64        `json:"limit_ms,omitempty"`
	Killed          bool         `json:"killed,omitempty"`
	SandboxID       string       `json:"sandbox_id,omitempty"`
	PID             uint32       `json:"pid,omitempty"`
	Partial         any          `json:"partial,omitempty"`
	Cancelled       bool         `json:"cancelled,omitempty"`
}

// part is a piece of a message: a text, or the option whose name stands there.
type part struct {
	Text   string       `json:"text,omitempty"`
	Option fault.Option `json:"option,omitempty"`
}

func parts(of []fault.Part) []part {
	var all []part
	for _, p := range of {
		if p != (fault.Part{}) {
			all = append(all, part(p))
		}
	}
	return all
}

// inTable spells an option as the method table does.
func inTable(o fault.Option) string { return string(o) }

// faultJSON writes err. One that is none of ours is a bug of ours.
func faultJSON(err error) []byte {
	e := fault.As(err)
	if e == nil {
		code := fault.CodeInternal
		if errors.Is(err, errCancelled) || errors.Is(err, core.ErrDetach) || errors.Is(err, context.Canceled) {
			code = fault.CodeCancelled
		}
		e = fault.New(code, "%s", err)
	}
	f := failed{
		Code: e.Code, Option: e.Option, Docs: e.Docs, Status: e.Status, RequestID: e.RequestID,
		Retryable: e.Retryable, RetryAfterMS: e.RetryAfter.Milliseconds(), Kind: e.Kind, Clock: e.Clock, LimitMS: e.Limit.Milliseconds(),
		Killed: e.Killed, SandboxID: e.SandboxID, PID: e.PID,
		Cancelled: e.Code == fault.CodeCancelled || errors.Is(err, context.Canceled),
	}
	f.Message, f.Suggestion = e.Spelled(inTable)
	message, suggestion := e.Parts()
	f.MessageParts, f.SuggestionParts = parts(message), parts(suggestion)
	if f.Code == "" {
		f.Code = fault.CodeInternal
	}
	if e.Cause != nil {
		f.Cause = e.Cause.Error()
	}
	switch partial := e.Partial.(type) {
	case *core.CommandResult:
		f.Partial = method.Ended(partial)
	case *method.CodeEnd:
		f.Partial = partial
	}
	b, err := json.Marshal(f)
	if err != nil {
		return []byte(`{"code":"E9000","message":"the error cannot be written as JSON"}`)
	}
	return b
}

package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agent-sandbox/agent-sandbox/conformance/runner"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// failure shows an error in every form in which Go programs print one.
func failure(err error) *runner.Failure {
	f := &runner.Failure{Texts: []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)}, Cancelled: errors.Is(err, context.Canceled)}
	if b, jsonErr := json.Marshal(err); jsonErr == nil {
		f.Texts = append(f.Texts, string(b))
	}
	for _, cause := range causes(err) {
		f.Texts = append(f.Texts, cause.Error(), fmt.Sprintf("%+v", cause))
	}
	e := fault.As(err)
	if e == nil {
		return f
	}
	f.Code, f.Message, f.Suggestion, f.Status, f.RequestID = string(e.Code), e.Message, e.Suggestion, e.Status, e.RequestID
	f.Option = e.Option.String()
	f.Retryable, f.RetryAfterMS, f.Kind, f.Clock, f.Killed = e.Retryable, e.RetryAfter.Milliseconds(), e.Kind, e.Clock, e.Killed
	f.LimitMS, f.SandboxID, f.PID = float64(e.Limit.Microseconds())/1000, e.SandboxID, e.PID
	switch partial := e.Partial.(type) {
	case *core.CommandResult:
		f.Partial = commandResult(partial)
	case *core.Execution:
		f.Partial = execution(partial)
	}
	return f
}

func causes(err error) []error {
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			return append([]error{cause}, causes(cause)...)
		}
	case interface{ Unwrap() []error }:
		var all []error
		for _, cause := range e.Unwrap() {
			all = append(append(all, cause), causes(cause)...)
		}
		return all
	}
	return nil
}

// longText is how much output is also shown as text: more is compared as bytes.
const longText = 1 << 16

func commandResult(r *core.CommandResult) map[string]any {
	if r == nil {
		return nil
	}
	m := map[string]any{
		"exit_code": r.ExitCode, "ok": r.OK(),
		"stdout_bytes": orEmpty(r.StdoutBytes), "stderr_bytes": orEmpty(r.StderrBytes),
	}
	if len(r.StdoutBytes)+len(r.StderrBytes) <= longText {
		m["stdout"], m["stderr"] = r.Stdout(), r.Stderr()
	}
	if r.Signal != "" {
		m["signal"] = r.Signal
	}
	if r.ErrorText != "" {
		m["error"] = r.ErrorText
	}
	return m
}

func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

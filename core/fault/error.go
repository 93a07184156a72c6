// Package fault holds the one error type of the SDK and its codes. It imports
// nothing of the SDK, so that every room below core can use it.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Error is the one error type. Decide by Code (or errors.As), never by Message.
// The zero value is not a success: it prints as an internal error.
type Error struct {
	Code       Code   // what kind of failure
	Message    string // short, true, in the caller's option names
	Suggestion string // what to change; may be empty
	Docs       string // path of the page that explains it; may be empty
	Cause      error  // what lies below; may be nil

	Status     int           // HTTP status of the answer; 0 when there was none
	RequestID  string        // the server's id of the request; may be empty
	Retryable  bool          // the same call may succeed later
	RetryAfter time.Duration // how long the server asked to wait; 0 = it did not say

	Kind      string        // CodePathKind: exists, not_a_directory, is_a_directory
	Clock     string        // timeouts: the clock that fired (request, idle, command, lifetime, cleanup)
	Limit     time.Duration // timeouts: its value
	Killed    bool          // CodeCommandTimeout: the process was killed
	SandboxID string        // the sandbox concerned, when known
	PID       uint32        // the process concerned, when known
	Partial   any           // what was received before the failure (*core.CommandResult for commands, *core.Execution for code)
	Option    Option        // the option that is wrong, as the language at hand shows it; may be empty

	message, suggestion []Part // where Message and Suggestion name options; nil = nowhere
}

// Error renders code, message and suggestion.
func (e *Error) Error() string {
	code := e.Code
	if code == "" {
		code = CodeInternal
	}
	s := string(code) + ": " + e.Message
	if e.Suggestion != "" {
		s += " (" + e.Suggestion + ")"
	}
	return s
}

// Unwrap gives the cause, so that errors.Is reaches context.Canceled and friends.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error of a code with a formatted message. A %s whose argument is
// an Option shows it in the caller's language.
func New(code Code, format string, args ...any) *Error {
	e := &Error{Code: code, Message: fmt.Sprintf(format, args...), Docs: DocsPage, message: parts(format, args)}
	if e.message != nil {
		e.Option = e.message[1].Option
	}
	return e
}

// DocsPage explains every code.
const DocsPage = "docs/errors.md"

// Say replaces the message, as New makes one.
func (e *Error) Say(format string, args ...any) *Error {
	e.Message, e.message = fmt.Sprintf(format, args...), parts(format, args)
	return e
}

// Suggest adds what the caller should change and returns e. Options are shown as
// New does.
func (e *Error) Suggest(format string, args ...any) *Error {
	e.Suggestion, e.suggestion = fmt.Sprintf(format, args...), parts(format, args)
	return e
}

// On says which option is wrong and returns e.
func (e *Error) On(option Option) *Error {
	e.Option = option
	return e
}

// Spelled gives message and suggestion with each option as spell writes it; the
// fields themselves have Go's spelling.
func (e *Error) Spelled(spell func(Option) string) (message, suggestion string) {
	return spelled(e.message, e.Message, spell), spelled(e.suggestion, e.Suggestion, spell)
}

// Parts gives message and suggestion cut where they name options; nil where they
// name none.
func (e *Error) Parts() (message, suggestion []Part) {
	return current(e.message, e.Message), current(e.suggestion, e.Suggestion)
}

// Because adds the cause and returns e.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// InvalidArgument is the error for a bad argument found locally, before any request.
func InvalidArgument(format string, args ...any) *Error {
	return New(CodeInvalidArgument, format, args...)
}

// As finds the *Error in err's chain; nil when there is none.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// CodeOf is the code of err, "" when err holds no *Error.
func CodeOf(err error) Code {
	if e := As(err); e != nil {
		return e.Code
	}
	return ""
}

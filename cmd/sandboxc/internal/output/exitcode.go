package output

import (
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Exit codes of sandboxc (surface.md 4).
const (
	ExitOK       = 0
	ExitGeneral  = 1
	ExitUsage    = 2
	ExitAuth     = 3
	ExitNotFound = 4
	ExitTimeout  = 5
	ExitQuota    = 6

	// ExitCommandTimeout and ExitOurFailure are those of `run` and `exec`, where
	// every other code is the command's own.
	ExitCommandTimeout = 124
	ExitOurFailure     = 125
	// ExitSignal plus a signal's number says that the signal ended it.
	ExitSignal = 128
	// ExitPipe is the end of a program whose output nobody reads any more.
	ExitPipe = ExitSignal + 13
)

// Status is an error that only sets the exit code: what there was to say is
// said.
type Status int

// Error satisfies error; it is never shown.
func (s Status) Error() string { return "exit status" }

// ExitCode is the exit code for an error of any command but run and exec.
func ExitCode(code fault.Code) int {
	switch code {
	case fault.CodeSandboxNotFound, fault.CodeTemplateNotFound, fault.CodeFileNotFound, fault.CodeSessionNotFound:
		return ExitNotFound
	case fault.CodeCommandTimeout, fault.CodeRequestTimeout, fault.CodeTemplateBuildTimeout:
		return ExitTimeout
	case fault.CodeQuotaExceeded:
		return ExitQuota
	case fault.CodeInvalidArgument:
		return ExitUsage
	case fault.CodeAuthentication, fault.CodeInvalidAPIKey, fault.CodeTokenExpired,
		fault.CodeInvalidCredentials, fault.CodeTokenExchange, fault.CodeForbidden:
		return ExitAuth
	}
	return ExitGeneral
}

// CommandExitCode is the exit code for an error of run and exec.
func CommandExitCode(code fault.Code) int {
	if code == fault.CodeCommandTimeout {
		return ExitCommandTimeout
	}
	return ExitOurFailure
}

package connect

import (
	"context"
	"errors"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Area says what a refused call was about, so that the same answer gets the
// code that the caller can act on.
type Area struct {
	Missing fault.Code // not_found
	Exists  fault.Code // already_exists
	Denied  fault.Code // permission_denied
	Route   fault.Code // the route itself is unknown (plain 404)
	Other   fault.Code
	Login   string // what to do when the credential is refused
}

// Classify turns what a call returned into the one error type. The cause is
// kept; errors.Is(err, context.Canceled) stays true for a cancel.
func Classify(ctx context.Context, err error, area Area) error {
	var (
		done    *fault.Error
		answer  *Error
		breach  *Protocol
		cut     *Cut
		clock   transport.Timeout
		network *transport.NetError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done):
		return err
	case errors.As(err, &clock):
		return ClockFired(clock)
	case errors.As(err, &answer): // a status that came counts, even if a clock ended its body
		return area.answer(answer)
	case errors.As(err, &breach): // so does an answer that is none of ours
		return fault.New(fault.CodeProtocol, "the peer broke the protocol: %s", breach).Because(err)
	case ctx.Err() != nil:
		return Cancelled(ctx)
	case errors.Is(err, ErrTooLarge):
		return fault.New(fault.CodeProtocol, "%s", err).Because(err)
	case errors.As(err, &network):
		return unreachable(network)
	case errors.As(err, &cut):
		return fault.New(fault.CodeNetwork, "the connection ended inside the answer").Because(err)
	}
	return fault.New(fault.CodeNetwork, "%s", Clip(err.Error())).Because(err)
}

// ClockFired is the error of a request or idle clock; the command clock's is
// made where the command is known.
func ClockFired(t transport.Timeout) *fault.Error {
	e := fault.New(fault.CodeRequestTimeout, "the %s clock fired after %s", t.Clock, Seconds(t.After))
	e.Clock, e.Limit, e.Cause, e.Retryable = t.Clock, t.After, t, true
	return e.Suggest("raise %s, or set it to 0 for none", ClockOption(t.Clock))
}

// ClockOption is the option that sets a clock.
func ClockOption(clock string) fault.Option { return fault.Option(clock + "_timeout_ms") }

// Seconds prints a duration in the unit that users set. A tiny one does not read
// as 0, which would be none.
func Seconds(d time.Duration) string {
	if d < time.Millisecond {
		return d.String()
	}
	return d.Round(time.Millisecond).String()
}

// Cancelled is the error of a call whose caller's ctx ended.
func Cancelled(ctx context.Context) error {
	return fault.New(fault.CodeCancelled, "the caller cancelled").Because(errors.Join(ctx.Err(), context.Cause(ctx)))
}

func unreachable(n *transport.NetError) error {
	if n.NeverSent() {
		e := fault.New(fault.CodeConnectFailed, "could not connect to %s", n.Error()).Because(n)
		e.Retryable = true
		return e.Suggest("check the URL, the network and the proxy settings")
	}
	return fault.New(fault.CodeNetwork, "the connection failed: %s", n.Error()).Because(n)
}

func (a Area) answer(e *Error) *fault.Error {
	f := &fault.Error{Code: a.code(e), Message: e.Message, Cause: e, Status: e.Status, RequestID: e.RequestID, RetryAfter: e.RetryAfter, SandboxID: e.SandboxID}
	switch f.Code {
	case fault.CodeRateLimit, fault.CodeServiceUnavailable:
		f.Retryable = true
	case fault.CodePathKind:
		f.Kind = fault.KindExists
	case fault.CodeInvalidAPIKey:
		f.Suggestion = a.Login
	}
	if may, said := e.MayRepeat(); said {
		f.Retryable = may
	}
	return f
}

func (a Area) code(e *Error) fault.Code {
	if e.Plain {
		return a.status(e.Status)
	}
	switch e.Code {
	case "invalid_argument", "out_of_range":
		return fault.CodeInvalidArgument
	case "unauthenticated":
		return fault.CodeAuthentication
	case "permission_denied":
		return a.Denied
	case "not_found":
		return a.Missing
	case "already_exists":
		return a.Exists
	case "resource_exhausted":
		return fault.CodeRateLimit
	case "unavailable":
		return fault.CodeServiceUnavailable
	case "unimplemented":
		return fault.CodeCapability
	}
	return a.Other
}

func (a Area) status(status int) fault.Code {
	switch {
	case status == 400 || status == 422:
		return fault.CodeInvalidArgument
	case status == 401:
		return fault.CodeInvalidAPIKey
	case status == 403:
		return fault.CodeForbidden
	case status == 404:
		return a.Route
	case status == 429:
		return fault.CodeRateLimit
	case status == 501:
		return fault.CodeCapability
	case status == 507:
		return fault.CodeNoSpace
	case status >= 500:
		return fault.CodeServiceUnavailable
	}
	return a.Other
}

package transport

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// ErrNotStored is what Store.Get and Store.Delete return for a missing name.
var ErrNotStored = errors.New("not stored")

// ErrNobodyWaits ends the ctx of a flight whose last waiter has left.
var ErrNobodyWaits = errors.New("nobody waits for it any more")

// ErrNotBulk is what ToHost gives when the request was not marked Bulk, or its
// body was partly read: the host has then begun to deliver it to the core.
var ErrNotBulk = errors.New("only an unread body of a Bulk request can be given to the host")

// Names of the clocks. Each is a separate limit with its own option.
const (
	ClockRequest  = "request"  // until the response head
	ClockIdle     = "idle"     // between chunks of a stream
	ClockCommand  = "command"  // how long the process may run
	ClockLifetime = "lifetime" // how long the sandbox lives
	ClockCleanup  = "cleanup"  // what may still be done after a cancel
	ClockSilence  = "silence"  // after the end event, until the end of the stream
)

// Timeout is the cause of a ctx whose clock fired.
type Timeout struct {
	Clock string
	After time.Duration
}

func (t Timeout) Error() string { return fmt.Sprintf("%s clock fired after %s", t.Clock, t.After) }

// NetKind says at which point the network failed.
type NetKind string

// Kinds of network failure.
const (
	NetResolve NetKind = "resolve" // the name has no address
	NetConnect NetKind = "connect" // no connection: the request was never sent
	NetRefused NetKind = "refused" // no connection, for nothing listens there: the request was never sent
	NetTLS     NetKind = "tls"     // certificate or handshake: the request was never sent
	NetSend    NetKind = "send"    // the request may have reached the peer
	NetReset   NetKind = "reset"   // the connection ended inside the exchange
	NetOther   NetKind = "other"
)

// NetError is a failed exchange. Message holds no credential and no query.
type NetError struct {
	Kind    NetKind
	Host    string // host:port that was tried, with "the proxy" before a proxy's
	Message string
	Cause   error
}

func (e *NetError) Error() string {
	if e.Host == "" {
		return e.Message
	}
	return e.Host + ": " + e.Message
}

// Unwrap gives the host's own error. It is never io.EOF, which means that all was
// well: a connection that ended too early is io.ErrUnexpectedEOF.
func (e *NetError) Unwrap() error {
	if errors.Is(e.Cause, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return e.Cause
}

// NeverSent tells whether the peer cannot have seen the request, so that even a
// call with effects may be repeated.
func (e *NetError) NeverSent() bool {
	return e.Kind == NetResolve || e.Kind == NetConnect || e.Kind == NetRefused || e.Kind == NetTLS
}

// Contained is the error for a recovered panic: E9000. Both hosts use it, so
// that a bug of ours looks the same everywhere.
func Contained(panicked any) error {
	e := fault.New(fault.CodeInternal, "%v", panicked).Suggest("this is a bug of ours: please report it")
	if cause, ok := panicked.(error); ok {
		e.Cause = cause
	}
	return e
}

package native

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// failure is the error of an exchange that got no head.
func (x *exchange) failure(ctx context.Context, err error) error {
	if own := x.ownEnd(ctx); own != nil {
		return own
	}
	return x.netError(err, x.link.Load() != nil)
}

// bodyFailure is the error of a body that ended with err.
func (x *exchange) bodyFailure(ctx context.Context, err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if own := x.ownEnd(ctx); own != nil {
		return own
	}
	return x.netError(err, true)
}

func (x *exchange) netError(err error, connected bool) error {
	e := netError(err, x.peer, connected)
	if e.Kind == transport.NetOther && x.link.Load().lost() {
		e.Kind, e.Message = transport.NetReset, lostMessage+e.Message
	}
	return e
}

// ownEnd is the reason when the failure was made at this end: a ctx, the host's
// Close, or the source of the request body.
func (x *exchange) ownEnd(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case x.ctx.Err() != nil:
		return context.Cause(x.ctx)
	case x.upload != nil:
		return x.upload.failure()
	}
	return nil
}

// netError classifies what net/http reports. connected tells whether the request
// had a connection, and so may have been sent.
func netError(err error, peer string, connected bool) *transport.NetError {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // its text has the whole URL
	}
	e := &transport.NetError{Host: peer, Cause: err}
	var dial *dialError
	var refused *proxyRefusedError
	var name *net.DNSError
	var h2 streamError
	if errors.As(err, &dial) && !dial.tried(peer) {
		e.Host = "the proxy " + dial.address // the peer was not tried
	}
	switch {
	case errors.As(err, &name):
		e.Kind, e.Message = transport.NetResolve, "the name does not resolve: "+name.Err
	case dial != nil:
		e.Kind, e.Message = dial.kind(peer), "cannot connect: "+innermost(dial.err)
	case errors.As(err, &refused):
		e.Kind, e.Message = transport.NetConnect, refused.Error()
	case errors.As(err, &h2) && h2.Code == refusedStream:
		e.Kind, e.Message = transport.NetConnect, "the peer refused the stream"
	case !connected || isTLS(err):
		e.Kind, e.Message = transport.NetTLS, "TLS handshake failed: "+innermost(err)
	case isReset(err):
		e.Kind, e.Message = transport.NetReset, lostMessage+innermost(err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		e.Kind, e.Message = transport.NetSend, "the connection stopped answering"
	default:
		e.Kind, e.Message = transport.NetOther, innermost(err)
	}
	return e
}

const lostMessage = "the connection ended inside the exchange: "

// innermost is the text of the deepest cause: the layers above repeat addresses.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

func isTLS(err error) bool {
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &verify) || errors.As(err, &record)
}

func isReset(err error) bool {
	var h2 streamError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &h2)
}

// refusedStream is REFUSED_STREAM of RFC 9113: the peer has not processed it.
const refusedStream = 7

// streamError has the shape of net/http's own HTTP/2 stream error, whose As
// method fills any struct with these fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return fmt.Sprintf("HTTP/2 stream error %d", e.Code) }

// dialError marks that no connection was made.
type dialError struct {
	err     error
	address string // that was tried: the peer's, or a proxy's
}

// tried tells whether it was the peer's address. The name of a peer that is not
// in ASCII is dialed in another form, so its port has to do.
func (e *dialError) tried(peer string) bool {
	if strings.ContainsFunc(peer, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return e.address[strings.LastIndexByte(e.address, ':'):] == peer[strings.LastIndexByte(peer, ':'):]
	}
	return e.address == peer
}

// kind tells a peer at whose address nothing listens from one that cannot be reached.
func (e *dialError) kind(peer string) transport.NetKind {
	if e.tried(peer) && errors.Is(e.err, syscall.ECONNREFUSED) {
		return transport.NetRefused
	}
	return transport.NetConnect
}

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// proxyRefusedError is a proxy's answer to CONNECT other than 200.
type proxyRefusedError struct{ status int }

func (e *proxyRefusedError) Error() string {
	return fmt.Sprintf("the proxy answered %d to CONNECT", e.status)
}

package gateway

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// drainLimit bounds how long an answer that came early is followed by reading
// the rest of its request.
const drainLimit = 10 * time.Second

// intake is the body of a request on its way inside, and knows whether all of
// it was read.
//
// Closing it only ends the reading for the sandbox. An answer may come before
// the end of a long upload, and a client in the middle of it would meet a reset
// connection and never see the answer that says why: what it still sends is
// read to its end.
//
// Once request and answer may run at the same time, net/http no longer says in
// the head of an answer that it will close the connection because of a body
// that nobody read; a client would send its next request into the closed one.
type intake struct {
	body          io.ReadCloser
	whole, closed atomic.Bool
	// complete is set when the answer has a length: the client has all of it
	// before the request has ended.
	complete bool
}

// watchIntake puts itself between r and its body.
func watchIntake(r *http.Request) *intake {
	in := &intake{body: r.Body}
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		in.whole.Store(true)
		return in
	}
	r.Body = in
	return in
}

// Read reads for the sandbox, and notes the end of the body.
func (in *intake) Read(p []byte) (int, error) {
	if in.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := in.body.Read(p)
	if errors.Is(err, io.EOF) {
		in.whole.Store(true)
	}
	return n, err
}

// Close ends the reading for the sandbox.
func (in *intake) Close() error {
	in.closed.Store(true)
	return nil
}

// announce makes the head of an answer of the given length (-1 is unknown) say
// that the connection will not carry another request, when a part of this one
// is still to come.
func (in *intake) announce(head http.Header, length int64) {
	in.complete = length >= 0
	if !in.whole.Load() {
		head.Set("Connection", "close")
	}
}

// refuse is announce for an answer of the gateway's own, which has a length. A
// client that asked whether to go on sends nothing when the answer comes
// instead.
func (in *intake) refuse(head http.Header, r *http.Request) {
	in.announce(head, 0)
	in.complete = r.Header.Get("Expect") == ""
}

// drain sends what is left of the answer and reads what is left of the request.
// Nobody reads on for longer than the limit.
func (in *intake) drain(w http.ResponseWriter) {
	if in.whole.Load() {
		return
	}
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(drainLimit)) != nil || !in.complete || control.Flush() != nil {
		return
	}
	// Where it fails the client is gone, or has had its time.
	_, _ = io.Copy(io.Discard, in.body)
}

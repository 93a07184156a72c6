package gateway

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// intake is the body of a request, and knows whether all of it was read.
//
// Once request and answer may run at the same time, net/http no longer says in
// the head of an answer that it will close the connection because of a body
// that nobody read; a client would send its next request into the closed one.
type intake struct {
	io.ReadCloser
	whole atomic.Bool
}

// watchIntake puts itself between r and its body.
func watchIntake(r *http.Request) *intake {
	in := &intake{ReadCloser: r.Body}
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		in.whole.Store(true)
		return in
	}
	r.Body = in
	return in
}

// Read notes the end of the body.
func (in *intake) Read(p []byte) (int, error) {
	n, err := in.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		in.whole.Store(true)
	}
	return n, err
}

// announce makes the head of an answer say that the connection will not carry
// another request, when a part of this one is still to come.
func (in *intake) announce(head http.Header) {
	if !in.whole.Load() {
		head.Set("Connection", "close")
	}
}

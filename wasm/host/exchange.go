package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

var errUnwanted = errors.New("the core wants it no more")

// requestJSON is the JSON of HTTP_REQUEST.
type requestJSON struct {
	Method  string           `json:"method"`
	URL     string           `json:"url"`
	Headers transport.Header `json:"headers"`
	Body    string           `json:"body"`
	Source  uint32           `json:"source"`
	Prefix  int              `json:"prefix"`
	Suffix  int              `json:"suffix"`
	Gzip    bool             `json:"gzip"`
	Bulk    bool             `json:"bulk"`
	Lasting bool             `json:"lasting"`
	Alone   bool             `json:"alone"`
}

// deliveryJSON is the JSON of BODY_TO_HOST.
type deliveryJSON struct {
	IdleMS int64 `json:"idle_ms"`
	Gzip   bool  `json:"gzip"`
	Skip   int64 `json:"skip"`
	Take   int64 `json:"take"`
}

// exchange performs one HTTP request.
type exchange struct {
	h       *Host
	o       *operation
	k       key
	ctx     context.Context
	cancel  context.CancelCauseFunc
	request transport.Request
	invalid error              // the request cannot be made
	pieces  chan []byte        // of the request body; closed at its end
	fate    chan *deliveryJSON // what is to become of a bulk body; nil: the core wants it
}

func newExchange(o *operation, k key, f frame.Frame) *exchange {
	x := &exchange{h: o.h, o: o, k: k, pieces: make(chan []byte, 1), fate: make(chan *deliveryJSON, 1)}
	x.ctx, x.cancel = context.WithCancelCause(context.Background())
	x.invalid = x.read(f.Payload)
	return x
}

func (x *exchange) read(payload []byte) error {
	text, raw, err := frame.Split(payload)
	if err != nil {
		return err
	}
	var r requestJSON
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	x.request = transport.Request{Method: r.Method, URL: r.URL, Header: r.Headers, Bulk: r.Bulk, Lasting: r.Lasting, Alone: r.Alone}
	body, raw := &x.request.Body, append([]byte(nil), raw...)
	body.Gzip = r.Gzip
	switch r.Body {
	case "bytes":
		body.Bytes = raw
	case "source":
		body.Source = x.o.call.Sources[r.Source]
		if body.Source == nil || r.Prefix+r.Suffix != len(raw) {
			return errors.New("the core names a source that the call does not have")
		}
		body.Prefix, body.Suffix = raw[:r.Prefix], raw[r.Prefix:]
	case "pieces":
		body.Next = x.piece
	}
	return nil
}

func (x *exchange) take(f frame.Frame) {
	switch f.Kind {
	case frame.HTTPBody:
		x.pieces <- append([]byte(nil), f.Payload...) // has room: one was asked for
	case frame.HTTPBodyEnd:
		close(x.pieces)
	case frame.BodyToCore:
		x.fate <- nil
	case frame.BodyToHost:
		d := &deliveryJSON{}
		_ = json.Unmarshal(f.Payload, d)
		x.fate <- d
	}
}

func (x *exchange) stop() { x.cancel(errUnwanted) }

// piece asks the core for the next piece of the request's body.
func (x *exchange) piece(ctx context.Context) ([]byte, error) {
	x.h.report(x.k, x, frame.HTTPWanted, nil)
	select {
	case p, ok := <-x.pieces:
		if !ok {
			return nil, io.EOF
		}
		return p, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (x *exchange) work() {
	defer x.cancel(errUnwanted)
	if x.invalid != nil {
		x.over(x.invalid)
		return
	}
	r, err := x.h.net.Do(x.ctx, &x.request)
	if err != nil {
		x.over(x.blame(err))
		return
	}
	defer r.Body.Close()
	x.h.report(x.k, x, frame.HTTPHead, headJSON(r))
	if x.request.Bulk {
		x.bulk(r.Body)
		return
	}
	x.over(x.pump(r.Body))
}

func headJSON(r *transport.Response) []byte {
	header := r.Header
	if header == nil {
		header = transport.Header{}
	}
	b, _ := json.Marshal(struct {
		Status  int              `json:"status"`
		Headers transport.Header `json:"headers"`
	}{r.Status, header})
	return b
}

// bulk waits for what is to become of the body.
func (x *exchange) bulk(b transport.ResponseBody) {
	select {
	case <-x.ctx.Done():
	case d := <-x.fate:
		if d == nil {
			x.over(x.pump(b))
			return
		}
		n, err := x.deliver(b.ToHost(time.Duration(d.IdleMS)*time.Millisecond), d)
		if err != nil {
			x.over(err)
			return
		}
		text, _ := json.Marshal(map[string]int64{"bytes": n})
		x.h.finish(x.k, x, frame.HTTPEnd, text)
	}
}

// pump gives the body to the core; io.EOF is its good end.
func (x *exchange) pump(b transport.ResponseBody) error {
	for x.h.await(x.k) {
		data, err := b.Next(x.ctx)
		if err != nil {
			return err
		}
		x.h.report(x.k, x, frame.HTTPChunk, data)
	}
	return errUnwanted
}

// over reports the end.
func (x *exchange) over(err error) {
	if errors.Is(err, io.EOF) {
		x.h.finish(x.k, x, frame.HTTPEnd, nil)
		return
	}
	x.h.finish(x.k, x, frame.HTTPError, failureJSON(err))
}

// blame tells a source that cannot be read from a network that failed.
func (x *exchange) blame(err error) error {
	var net *transport.NetError
	if x.request.Body.Source == nil || errors.As(err, &net) {
		return err
	}
	return &sourceError{err}
}

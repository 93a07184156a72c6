package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// ErrDetach as the cause of a call's ctx leaves alone what the call has started:
// the process goes on.
var ErrDetach = errors.New("the caller detached")

// Call is one call of the method table. Its functions are called on the goroutine
// of Do, in order, and none after Do has returned; nil ones are left out.
type Call struct {
	Method   string          `json:"method"`
	Client   json.RawMessage `json:"client,omitempty"`
	Sandbox  json.RawMessage `json:"sandbox,omitempty"`
	Params   any             `json:"params,omitempty"`
	Attached []byte          `json:"-"`

	// Sources are bulk data that parameters name by id.
	Sources map[uint32]transport.Source `json:"-"`
	// Input gives pieces of what the caller sends; io.EOF ends it. It is called
	// on a goroutine of its own.
	Input func(ctx context.Context) ([]byte, error) `json:"-"`

	Event  func(kind string, event json.RawMessage) `json:"-"`
	Output func(stream Stream, b []byte)            `json:"-"` // b is the callee's
	Body   func(b []byte) error                     `json:"-"` // bulk data; an error cancels the call
}

// Stream is where output of a process comes from.
type Stream frame.Kind

// The streams.
const (
	Stdout = Stream(frame.Stdout)
	Stderr = Stream(frame.Stderr)
	PTY    = Stream(frame.PTY)

	Messages = Stream(frame.Messages) // what code prints
	Object   = Stream(frame.Object)   // the JSON of its results
)

// bodyPiece marks bulk data in an operation's queue. It is no frame.
const bodyPiece frame.Kind = 0

// item is something for the caller.
type item struct {
	kind    frame.Kind
	payload []byte
}

// Do makes a call and waits for its result. When ctx ends the core is told, Do
// returns at once, and the operation cleans up behind it. Errors are *Failure.
func (h *Host) Do(ctx context.Context, c Call) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, cancelled(context.Cause(ctx))
	}
	o, err := h.begin(&c)
	if err != nil {
		return nil, err
	}
	defer h.leave(o)
	for {
		it, err := h.next(ctx, o)
		if err != nil {
			return nil, o.cancel(context.Cause(ctx))
		}
		switch it.kind {
		case frame.Result:
			return it.payload, nil
		case frame.Error:
			return nil, readFailure(it.payload)
		}
		if err := o.deliver(it); err != nil {
			return nil, o.cancel(err)
		}
	}
}

func readFailure(payload []byte) error {
	f := &Failure{}
	if err := json.Unmarshal(payload, f); err != nil {
		return ended(err)
	}
	return f
}

// deliver runs the callback that an item is for.
func (o *operation) deliver(it item) error {
	switch it.kind {
	case frame.Event:
		var e struct {
			Kind string `json:"kind"`
			PID  uint32 `json:"pid"`
		}
		if err := json.Unmarshal(it.payload, &e); err != nil {
			return err
		}
		if e.PID != 0 {
			o.pid = e.PID
		}
		if o.call.Event != nil {
			o.call.Event(e.Kind, it.payload)
		}
	case bodyPiece:
		if o.call.Body != nil {
			return o.call.Body(it.payload)
		}
	default:
		if o.call.Output != nil {
			o.call.Output(Stream(it.kind), it.payload)
		}
	}
	return nil
}

// cancel tells the core, and gives what the caller gets.
func (o *operation) cancel(cause error) error {
	reason := "cancel"
	if errors.Is(cause, ErrDetach) {
		reason = "detach"
	}
	text, _ := json.Marshal(map[string]string{"reason": reason})
	o.h.feed(input(key{o.id, 0}, frame.Cancel, text))
	f := cancelled(cause)
	f.PID = o.pid
	return f
}

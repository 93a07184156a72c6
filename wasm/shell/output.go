package shell

import (
	"encoding/json"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// kinds are the orders whose payload is their data, or nothing.
var kinds = map[engine.OutKind]frame.Kind{
	engine.HTTPBody: frame.HTTPBody, engine.HTTPBodyEnd: frame.HTTPBodyEnd, engine.HTTPAbort: frame.HTTPAbort, engine.BodyToCore: frame.BodyToCore,
	engine.SendText: frame.SendText, engine.SendBinary: frame.SendBinary, engine.SocketClose: frame.WSClose,
	engine.InputWanted: frame.InputWanted,
}

// channels are the frames of plane.Channel.
var channels = [...]frame.Kind{frame.Stdout, frame.Stderr, frame.PTY, frame.Messages, frame.Object}

// take writes one order of the engine.
func (s *Shell) take(o *engine.Out) {
	switch o.Kind {
	case engine.Output:
		s.raw(o, channels[o.Channel], o.Data)
	case engine.HTTPRequest:
		s.request(o)
	case engine.BodyToHost:
		s.raw(o, frame.BodyToHost, delivery(o.Delivery))
	case engine.SocketDial:
		s.raw(o, frame.WSDial, dial(o.Socket))
	case engine.TimerSet, engine.TimerClear:
		s.timers.order(o)
	case engine.StoreCall:
		s.mixed(o, frame.Store, storeCall(o), o.Data)
	case engine.StoreRelease:
		s.mixed(o, frame.Store, []byte(`{"verb":"unlock"}`), nil)
	case engine.Emit:
		s.raw(o, frame.Event, eventJSON(o.Value))
	case engine.Result:
		s.settle(o)
	case engine.Done:
		s.timers.done(o.Op)
		s.raw(o, frame.Done, nil)
	default:
		s.raw(o, kinds[o.Kind], o.Data)
	}
}

func (s *Shell) raw(o *engine.Out, kind frame.Kind, payload []byte) {
	s.out = frame.Append(s.out, frame.Frame{Op: o.Op, Stream: o.Stream, Kind: kind, Payload: payload})
}

func (s *Shell) mixed(o *engine.Out, kind frame.Kind, text []byte, raw ...[]byte) {
	s.out = frame.Append(s.out, frame.Frame{Op: o.Op, Stream: o.Stream, Kind: kind, Payload: frame.Mixed(text)}, raw...)
}

// complain reports a mistake of the host: on operation 0, so that no operation is
// settled by it.
func (s *Shell) complain(what string) {
	b := faultJSON(fault.New(fault.CodeInternal, "the host broke the protocol of the core: %s", what))
	s.raw(&engine.Out{}, frame.Error, b)
}

// longestTimer is what every host can set: JavaScript takes more for 1.
const longestTimer = 1<<31 - 1

// millis rounds up: a timer never fires before its time, unless that is in more
// than 24 days.
func millis(d time.Duration) uint32 {
	ms := d / time.Millisecond
	if d%time.Millisecond > 0 {
		ms++
	}
	return uint32(min(max(ms, 1), longestTimer)) //nolint:gosec // bounded
}

func (s *Shell) settle(o *engine.Out) {
	if o.Err != nil {
		s.raw(o, frame.Error, faultJSON(o.Err))
		return
	}
	b, _ := o.Value.(json.RawMessage)
	s.raw(o, frame.Result, b)
}

// request writes an HTTP request: its JSON, and the bytes that the core holds.
func (s *Shell) request(o *engine.Out) {
	r := o.Request
	b := make([]byte, 0, 512)
	b = append(b, `{"method":`...)
	b = appendString(b, r.Method)
	b = append(b, `,"url":`...)
	b = appendString(b, r.URL)
	b = append(b, `,"headers":`...)
	b = appendHeader(b, r.Header)
	b = append(b, `,"body":"`...)
	var raw [][]byte
	src, ok := r.Body.Source.(source)
	switch {
	case o.Pieces:
		b = append(b, `pieces"`...)
	case ok:
		b = append(b, `source","source":`...)
		b = appendNumber(b, int64(src.ref.ID))
		b = append(b, `,"prefix":`...)
		b = appendNumber(b, int64(len(r.Body.Prefix)))
		b = append(b, `,"suffix":`...)
		b = appendNumber(b, int64(len(r.Body.Suffix)))
		raw = [][]byte{r.Body.Prefix, r.Body.Suffix}
	case r.Body.Bytes != nil:
		b = append(b, `bytes"`...)
		raw = [][]byte{r.Body.Bytes}
	default:
		b = append(b, `none"`...)
	}
	if r.Body.Gzip {
		b = append(b, `,"gzip":true`...)
	}
	if r.Bulk {
		b = append(b, `,"bulk":true`...)
	}
	if r.Lasting {
		b = append(b, `,"lasting":true`...)
	}
	if r.Alone {
		b = append(b, `,"alone":true`...)
	}
	s.mixed(o, frame.HTTPRequest, append(b, '}'), raw...)
}

func delivery(d transport.Delivery) []byte {
	b := append([]byte(`{"idle_ms":`), []byte(nil)...)
	b = appendNumber(b, idleMillis(d.Idle))
	b = append(b, `,"gzip":`...)
	b = appendBool(b, d.Gzip)
	if d.Skip > 0 {
		b = appendNumber(append(b, `,"skip":`...), d.Skip)
	}
	if d.Take > 0 {
		b = appendNumber(append(b, `,"take":`...), d.Take)
	}
	return append(b, '}')
}

func idleMillis(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64(max(d/time.Millisecond, 1))
}

func dial(r *transport.SocketRequest) []byte {
	b := appendString([]byte(`{"url":`), r.URL)
	b = appendHeader(append(b, `,"headers":`...), r.Header)
	b = append(b, `,"subprotocols":[`...)
	for i, p := range r.Subprotocols {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, p)
	}
	b = appendNumber(append(b, `],"max_message":`...), r.MaxMessage)
	return append(b, '}')
}

var verbs = map[engine.Verb]string{
	engine.StoreGet: "get", engine.StorePut: "put", engine.StoreDelete: "delete", engine.StoreList: "list", engine.StoreLock: "lock",
}

func storeCall(o *engine.Out) []byte {
	b := appendString([]byte(`{"verb":`), verbs[o.Verb])
	b = appendString(append(b, `,"name":`...), o.Name)
	return append(b, '}')
}

// eventJSON is {"kind": kind} and the fields of the event's value.
func eventJSON(value any) []byte {
	e, _ := value.(happening)
	b := appendString([]byte(`{"kind":`), e.kind)
	if e.value != nil {
		fields, err := result(e.value)
		if err == nil && len(fields) > 2 && fields[0] == '{' {
			return append(append(b, ','), fields[1:]...)
		}
	}
	return append(b, '}')
}

package shell

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// events are the frames that need no more than their payload.
var events = map[frame.Kind]engine.EventKind{
	frame.HTTPChunk: engine.HTTPChunk, frame.HTTPWanted: engine.BodyWanted,
	frame.WSOpen: engine.SocketOpen, frame.WSText: engine.SocketText, frame.WSBinary: engine.SocketBinary,
	frame.Timer: engine.TimerFired, frame.Input: engine.Input,
}

// give hands one frame to the engine. held says that the frame's bytes are still
// in use.
func (s *Shell) give(f frame.Frame) (held bool) {
	if f.Kind == frame.Call {
		s.call(f)
		return false
	}
	v, err := event(f)
	if err != nil {
		s.complain("frame " + strconv.Itoa(int(f.Kind)) + " of operation " + strconv.FormatUint(uint64(f.Op), 10) + ": " + err.Error())
		return false
	}
	return s.engine.Event(v)
}

// event reads a frame that concerns a live operation.
func event(f frame.Frame) (engine.Event, error) {
	v := engine.Event{Op: f.Op, Stream: f.Stream, Kind: events[f.Kind], Data: f.Payload}
	if v.Kind != 0 {
		return v, nil
	}
	v.Data = nil
	var err error
	switch f.Kind {
	case frame.Cancel:
		v.Kind = engine.Cancel
		v.Err, err = reason(f.Payload)
	case frame.HTTPHead:
		v.Kind = engine.HTTPHead
		v.Status, v.Header, err = head(f.Payload)
	case frame.HTTPEnd:
		v.Kind = engine.HTTPEnd
		v.Bytes, err = delivered(f.Payload)
	case frame.HTTPError:
		v.Kind = engine.HTTPError
		v.Err, err = failure(f.Payload)
	case frame.WSClosed:
		v.Kind = engine.SocketClosed
		if len(f.Payload) > 0 {
			v.Err, err = failure(f.Payload)
		}
	case frame.StoreResult:
		v.Kind = engine.StoreResult
		err = stored(&v, f.Payload)
	case frame.InputEnd:
		v.Kind = engine.InputEnd
		v.Err, err = inputEnd(f.Payload)
	default:
		err = errors.New("its kind is unknown")
	}
	return v, err
}

var errCancelled = errors.New("the caller cancelled")

func reason(payload []byte) (cause, err error) {
	var p struct {
		Reason string `json:"reason"`
	}
	if len(payload) > 0 {
		err = json.Unmarshal(payload, &p)
	}
	if p.Reason == "detach" {
		return core.ErrDetach, err
	}
	return errCancelled, err
}

func delivered(payload []byte) (int64, error) {
	var p struct {
		Bytes int64 `json:"bytes"`
	}
	if len(payload) == 0 {
		return 0, nil
	}
	err := json.Unmarshal(payload, &p)
	return p.Bytes, err
}

// failure reads how an exchange failed.
func failure(payload []byte) (failed, err error) {
	var p struct {
		Kind    transport.NetKind `json:"kind"`
		Host    string            `json:"host"`
		Message string            `json:"message"`
		Clock   string            `json:"clock"`
		LimitMS int64             `json:"limit_ms"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, err
	}
	if p.Clock != "" {
		return transport.Timeout{Clock: p.Clock, After: time.Duration(p.LimitMS) * time.Millisecond}, nil
	}
	switch p.Kind {
	case transport.NetResolve, transport.NetConnect, transport.NetRefused, transport.NetTLS, transport.NetSend, transport.NetReset:
	case "damaged":
		return fault.New(fault.CodeProtocol, "the peer broke the protocol: its compressed body is damaged").Because(errors.New(p.Message)), nil
	case "source":
		return fault.InvalidArgument("what is to be sent cannot be read: %s", p.Message), nil
	default:
		p.Kind = transport.NetOther
	}
	return &transport.NetError{Kind: p.Kind, Host: p.Host, Message: p.Message}, nil
}

func stored(v *engine.Event, payload []byte) error {
	text, blob, err := frame.Split(payload)
	if err != nil {
		return err
	}
	var p struct {
		Names []string `json:"names"`
		Error string   `json:"error"`
	}
	if len(text) > 0 {
		err = json.Unmarshal(text, &p)
	}
	v.Data, v.Names = blob, p.Names
	switch p.Error {
	case "":
	case "not_stored":
		v.Err = transport.ErrNotStored
	default:
		v.Err = fault.New(fault.CodeSession, "the store failed: %s", p.Error)
	}
	return err
}

func inputEnd(payload []byte) (failed, err error) {
	var p struct {
		Error string `json:"error"`
	}
	if len(payload) > 0 {
		err = json.Unmarshal(payload, &p)
	}
	if p.Error != "" {
		failed = fault.InvalidArgument("the input failed: %s", p.Error)
	}
	return failed, err
}

package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/method"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/scan"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// call begins an operation.
func (s *Shell) call(f frame.Frame) {
	if f.Op == 0 {
		s.complain("operation 0 is nobody's: ids are from 1")
		return
	}
	if err := s.engine.Call(f.Op, s.operation(f.Payload)); err != nil {
		s.complain("CALL: " + err.Error())
	}
}

// operation makes a call ready to run. What is wrong with it is its result.
func (s *Shell) operation(payload []byte) engine.Func {
	c, m, err := s.read(payload)
	if err != nil {
		return func(context.Context, transport.Host) (any, error) { return nil, err }
	}
	return func(ctx context.Context, h transport.Host) (any, error) {
		c.Host, c.Caller = h, &caller{h.(engine.Caller), s}
		value, err := m.Run(ctx, c)
		if err != nil {
			return nil, err
		}
		return result(value)
	}
}

func (s *Shell) read(payload []byte) (*method.Call, *method.Method, error) {
	text, attached, err := frame.Split(payload)
	if err != nil {
		return nil, nil, fault.New(fault.CodeInternal, "the host sent a CALL that ends too early")
	}
	r, err := readRequest(text)
	if err != nil {
		return nil, nil, fault.New(fault.CodeInternal, "the host sent a CALL whose JSON is broken: %s", err)
	}
	m, ok := s.methods[r.Method]
	if !ok {
		return nil, nil, fault.InvalidArgument("the core has no method %s", strconv.Quote(clip(r.Method)))
	}
	c := &method.Call{Params: bytes.Clone(given(r.Params)), RequestTimeoutMS: r.RequestTimeoutMS, Attached: bytes.Clone(attached)}
	if client := given(r.Client); client != nil {
		if c.Account, err = s.accounts.read(client, method.NewAccount); err != nil {
			return nil, nil, err
		}
	}
	if sandbox := given(r.Sandbox); sandbox != nil {
		if c.Handle, err = s.handles.read(sandbox, handle.FromJSON); err != nil {
			return nil, nil, err
		}
	}
	return c, m, nil
}

// given is nil for what is absent or null.
func given(text json.RawMessage) json.RawMessage {
	if string(text) == "null" {
		return nil
	}
	return text
}

func clip(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most]
	}
	return s
}

// result is JSON made inside the operation, where a panic is contained.
func result(value any) (json.RawMessage, error) {
	if plain, ok := value.(scan.Appender); ok {
		return plain.AppendJSON(nil), nil
	}
	b, err := json.Marshal(value)
	if err != nil {
		return nil, fault.New(fault.CodeInternal, "the result cannot be written as JSON: %s", err)
	}
	return b, nil
}

// caller is method.Caller on the engine.
type caller struct {
	engine.Caller
	s *Shell
}

// happening is one event for the caller.
type happening struct {
	kind  string
	value any
}

func (c *caller) Event(kind string, value any) { c.Emit(happening{kind, value}) }

func (c *caller) Output(ch plane.Channel, b []byte) { c.Caller.Output(uint8(ch), b) }

func (c *caller) Source(ref method.SourceRef) transport.Source { return source{ref} }

func (c *caller) Trap() {
	if c.s.options.Trap == nil {
		panic("test.trap: this host cannot trap")
	}
	c.s.options.Trap()
}

// source is bulk data that the host holds.
type source struct{ ref method.SourceRef }

func (s source) Size() (int64, bool) {
	if s.ref.Size == nil {
		return 0, false
	}
	return *s.ref.Size, true
}

func (s source) Replayable() bool { return s.ref.Replayable }

func (s source) String() string { return fmt.Sprintf("source %d of the host", s.ref.ID) }

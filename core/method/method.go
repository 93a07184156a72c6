// Package method is the table of everything that a host can call, by name: the
// one source of the calls in every language. A method's parameters and result
// are Go structs; bindings' types and wasm/schema.json are generated from them.
package method

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/scan"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Shape says how a binding calls a method.
type Shape string

// The shapes.
const (
	Plain   Shape = "plain"   // parameters in, result out
	Inline  Shape = "inline"  // as plain, and known at once: no request is made
	Wrapped Shape = "wrapped" // as plain; bindings make an object of the result by hand
	Follow  Shape = "follow"  // a process: started, output, and its end as the result
	Read    Shape = "read"    // the body goes to the host; the result comes when it is delivered
	Write   Shape = "write"   // the host sends sources that parameters name by id
	Send    Shape = "send"    // attached bytes go in with the call
	Stream  Shape = "stream"  // pieces go in while the call runs
	Watch   Shape = "watch"   // events until it is cancelled
	Inner   Shape = "inner"   // for hosts themselves; no binding offers it to users
)

// Method is one entry of the table. Its name is class and method as the bindings
// spell them, in snake case: files.get_info.
type Method struct {
	Name   string
	Shape  Shape
	Params reflect.Type // a struct; its doc comment documents the method, its fields' the parameters
	Result reflect.Type // nil = nothing
	// run takes a *Params. What is generic about a method is in its last lines
	// alone: everything else would be there once a method in the WebAssembly build.
	run func(ctx context.Context, c *Call, params any) (any, error)
	// make gives new Params where that is called often; nil = by reflection.
	make func() any
}

// Run reads the parameters of c and makes the call.
func (m *Method) Run(ctx context.Context, c *Call) (any, error) {
	p := m.params()
	if plain, ok := p.(plain); len(c.Params) > 0 && !(ok && plain.scan(scan.Text(c.Params))) {
		if err := json.Unmarshal(c.Params, p); err != nil {
			return nil, unfit(m.Params, err)
		}
		if err := unfilled(m.Params, c.Params); err != nil {
			return nil, err
		}
		if err := unpaired(c.Params); err != nil {
			return nil, err
		}
	}
	return m.run(ctx, c, p)
}

func (m *Method) params() any {
	if m.make != nil {
		return m.make()
	}
	return reflect.New(m.Params).Interface()
}

// made is m, which is called often.
func (m Method) made(by func() any) Method {
	m.make = by
	return m
}

// plain are parameters that read themselves where they are written plainly; where
// they are not, they stay as they were.
type plain interface{ scan(t scan.Text) bool }

// Call is one call as it reaches a method.
type Call struct {
	Host             transport.Host
	Account          *Account       // who calls; nil where a method needs none
	Handle           *handle.Handle // which sandbox; nil where a method needs none
	Params           json.RawMessage
	RequestTimeoutMS *int64 // the request clock of this call; nil = the account's
	Attached         []byte // the call's own
	Caller           Caller
}

// Caller is the other end of a call, for what goes back and forth before the result.
type Caller interface {
	// Event gives {"kind": kind} and the fields of value, a struct or nil.
	Event(kind string, value any)
	// Output gives bytes of a process.
	Output(ch plane.Channel, b []byte)
	// Input waits for a piece of what the caller sends; io.EOF ends it.
	Input(ctx context.Context) ([]byte, error)
	// Source names bulk data that the host holds.
	Source(s SourceRef) transport.Source
	// Trap ends the whole core at once, as a bug that cannot be contained would.
	Trap()
}

// SourceRef is bulk data that the host holds, as parameters name it.
type SourceRef struct {
	ID         uint32 `json:"id"`                   // chosen by the host
	Size       *int64 `json:"size,omitempty"`       // bytes; absent = unknown
	Replayable bool   `json:"replayable,omitempty"` // it can be sent a second time
}

// none is the result of a method that has nothing to say.
type none = *struct{}

// The type parameters P below are pointers to parameters: all pointers share one
// instance of generic code, and the WebAssembly build has one of each instead of
// fifty.

// inner is a method for hosts themselves.
func inner[P, R any](name string, fn func(context.Context, *Call, P) (R, error)) Method {
	return entry[P, R](name, Inner, func(ctx context.Context, c *Call, p any) (any, error) {
		return fn(ctx, c, p.(P))
	})
}

// onClient is a method of a client: nothing but an account is needed.
func onClient[P, R any](name string, shape Shape, fn func(context.Context, *core.Client, P) (R, error)) Method {
	return entry[P, R](name, shape, func(ctx context.Context, c *Call, p any) (any, error) {
		client, err := c.client()
		if err != nil {
			return nil, err
		}
		return fn(ctx, client, p.(P))
	})
}

// onID is a method of a sandbox that needs no more than its id.
func onID[P, R any](name string, fn func(ctx context.Context, client *core.Client, id string, p P) (R, error)) Method {
	return entry[P, R](name, Plain, func(ctx context.Context, c *Call, p any) (any, error) {
		client, id, err := c.target(p)
		if err != nil {
			return nil, err
		}
		return fn(ctx, client, id, p.(P))
	})
}

// onSandbox is a method of one sandbox.
func onSandbox[P, R any](name string, fn func(context.Context, *core.Sandbox, P) (R, error)) Method {
	return entry[P, R](name, Plain, func(ctx context.Context, c *Call, p any) (any, error) {
		sandbox, err := c.sandbox()
		if err != nil {
			return nil, err
		}
		return fn(ctx, sandbox, p.(P))
	})
}

// inline is a method of one sandbox that makes no request.
func inline[P, R any](name string, fn func(*core.Sandbox, P) (R, error)) Method {
	return entry[P, R](name, Inline, func(_ context.Context, c *Call, p any) (any, error) {
		sandbox, err := c.sandbox()
		if err != nil {
			return nil, err
		}
		return fn(sandbox, p.(P))
	})
}

// shaped is a method of one sandbox that speaks to its caller.
func shaped[P, R any](name string, shape Shape, fn func(context.Context, *Call, *core.Sandbox, P) (R, error)) Method {
	return entry[P, R](name, shape, func(ctx context.Context, c *Call, p any) (any, error) {
		sandbox, err := c.sandbox()
		if err != nil {
			return nil, err
		}
		return fn(ctx, c, sandbox, p.(P))
	})
}

func entry[P, R any](name string, shape Shape, run func(context.Context, *Call, any) (any, error)) Method {
	return newMethod(name, shape, reflect.TypeFor[P]().Elem(), reflect.TypeFor[R](), run)
}

func newMethod(name string, shape Shape, params, result reflect.Type, run func(context.Context, *Call, any) (any, error)) Method {
	if result == reflect.TypeFor[none]() {
		result = nil
	}
	return Method{Name: name, Shape: shape, Params: params, Result: result, run: run}
}

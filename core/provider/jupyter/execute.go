package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	core "github.com/agent-sandbox/agent-sandbox/core/interpreter"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// poll is between two questions whether a silent kernel lives.
const poll = 5 * time.Second

// cleanup is the clock of what may still be done after a cancel or timeout.
const cleanup = 5 * time.Second

// mostMessage is what a kernel may send at once: every host passes it on in one
// piece.
const mostMessage = 48 << 20

// errEnded ends the watch over a run that has ended.
var errEnded = errors.New("the run has ended")

// otherEnd is the end of a run that is the kernel's own.
type otherEnd struct {
	said   plane.CodeError
	afresh bool // the server starts the kernel again
}

func (e *otherEnd) Error() string { return e.said.Name + ": " + e.said.Value }

func endedBy(name, value string) *otherEnd {
	return &otherEnd{said: plane.CodeError{Name: name, Value: value}}
}

// run is one run of code in a kernel.
type run struct {
	i     *interpreter
	spec  plane.CodeSpec
	alive func()

	kernel  string
	id      string // of the request
	socket  transport.Socket
	framing framing
	sink    *teller
	heard   atomic.Int64 // messages about this run
}

// Execute runs code to its end. Code that nobody waits for any more, because ctx
// has ended or a clock has fired, is interrupted when it has begun.
func (i *interpreter) Execute(ctx context.Context, spec plane.CodeSpec, watch plane.Watch, sink plane.CodeSink) error {
	if len(spec.Envs) > 0 {
		return fault.New(fault.CodeCapability, "provider %s has no %s for a run: kernels take none", Name, fault.Option("envs")).
			On("envs").Suggest("set them in the code, in Python with os.environ")
	}
	host := i.control.host
	timed, _, disarmCommand := host.Limit(ctx, transport.ClockCommand, watch.Command)
	defer disarmCommand()
	lively, alive, disarmIdle := host.Limit(timed, transport.ClockIdle, watch.Idle)
	defer disarmIdle()
	x := &run{i: i, spec: spec, alive: alive, sink: &teller{sink: sink}}
	err := x.open(lively, watch.Request)
	if x.socket != nil {
		defer x.socket.Close()
	}
	if err == nil {
		err = host.Par(lively, 2, 2, func(ctx context.Context, n int) error {
			if n == 0 {
				return x.read(ctx)
			}
			return x.guard(ctx)
		})
	}
	var by *otherEnd
	switch {
	case errors.As(err, &by):
		if by.afresh {
			x.socket.Close()
			x.revive(ctx)
		}
		return x.sink.raise(&by.said)
	case errors.Is(err, errEnded):
		return nil
	}
	return x.failure(ctx, watch, err)
}

// open finds the kernel, dials it and sends the code.
func (x *run) open(ctx context.Context, clock time.Duration) error {
	c := x.i.control
	starting, _, begun := c.host.Limit(ctx, transport.ClockRequest, clock)
	defer begun()
	var err error
	if x.kernel, err = x.find(starting); err != nil {
		return err
	}
	session := c.random(16)
	if err = x.dial(starting, session); err != nil {
		return x.unopened(starting, err)
	}
	x.id = c.random(16)
	return x.send(starting, session, "execute_request", map[string]any{
		"code": x.spec.Code, "silent": false, "store_history": true, "user_expressions": struct{}{},
		"allow_stdin": false, "stop_on_error": false, // others wait in the same queue
	})
}

// send asks the kernel for something, under the id of this run.
func (x *run) send(ctx context.Context, session, kind string, content any) error {
	isBinary, b, err := x.framing.write(&request{
		Channel: "shell", Buffers: []string{},
		Header:  header{ID: x.id, Session: session, Date: x.i.control.host.Now().UTC().Format(time.RFC3339Nano), Type: kind, Protocol: "5.3"},
		Content: content,
	})
	if err != nil {
		return fault.InvalidArgument("the code cannot be written as JSON").Because(err)
	}
	return x.socket.Send(ctx, isBinary, b)
}

// find gives the kernel to run in. The default one of a language is made at its
// first use.
func (x *run) find(ctx context.Context) (string, error) {
	if x.spec.ContextID != "" {
		return x.spec.ContextID, nil
	}
	c := x.i.control
	spec, err := c.specOf(ctx, x.spec.Language)
	if err != nil {
		return "", err
	}
	mine, err := c.sessions(ctx, x.i.sandbox)
	if err != nil {
		return "", err
	}
	for n := range mine {
		if name, _ := mine[n].name(x.i.sandbox); name == defaultName+spec {
			return mine[n].Kernel.ID, nil
		}
	}
	if len(mine) == 0 {
		return "", missing(x.i.sandbox)
	}
	made, err := c.open(ctx, x.i.sandbox, "", defaultName+spec, spec)
	if err != nil {
		return "", err
	}
	return made.Kernel.ID, nil
}

// dial opens the WebSocket of the kernel. Where a client asks for a subprotocol
// that the server does not have, some hosts refuse the answer: it is not asked for
// again.
func (x *run) dial(ctx context.Context, session string) error {
	c := x.i.control
	r := &transport.SocketRequest{
		URL:    "ws" + strings.TrimPrefix(c.base, "http") + kernelPath(x.kernel) + "/channels?session_id=" + session,
		Header: c.header(), Subprotocols: []string{protocolParts}, MaxMessage: mostMessage,
	}
	socket, err := c.host.Dial(ctx, r)
	var network *transport.NetError
	if errors.As(err, &network) && !network.NeverSent() {
		r.Subprotocols = nil
		socket, err = c.host.Dial(ctx, r)
	}
	if err != nil {
		return err
	}
	x.socket, x.framing = socket, framing(socket.Subprotocol() == protocolParts)
	return nil
}

// unopened asks the server itself why there is no WebSocket.
func (x *run) unopened(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	_, asked := x.i.kernel(ctx, x.kernel)
	switch {
	case asked == nil:
		return err
	case statusOf(asked) == 404:
		return noContext(x.kernel)
	}
	return asked
}

// read gives what the kernel says to the sink, until the run has ended.
func (x *run) read(ctx context.Context) error {
	for {
		isBinary, b, err := x.socket.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return &connect.Cut{Cause: err}
		}
		x.alive()
		m, err := x.framing.read(isBinary, b)
		if err != nil {
			return x.i.control.secrets().Breach("messages of a kernel", b)
		}
		if err := x.take(m); err != nil {
			return err
		}
	}
}

func (x *run) take(m *message) error {
	switch {
	case m.Parent.ID == x.id:
		x.heard.Add(1)
	case m.Header.Type == "status" && m.Channel == "iopub":
		return x.elsewhere(m)
	default:
		return nil
	}
	ended, err := x.sink.take(m)
	if err == nil && ended {
		return errEnded
	}
	return err
}

// elsewhere is a state of the kernel that is not about this run: it may be the end
// of the kernel.
func (x *run) elsewhere(m *message) error {
	switch stateOf(m.Content) {
	case "restarting":
		end := endedBy("KernelDied", "the kernel died and is started afresh: what was defined in it is gone")
		end.afresh = true
		return end
	case "dead":
		return endedBy("KernelDied", "the kernel died")
	case "starting":
		if x.sink.begun {
			return endedBy("ContextRestarting", "the kernel was restarted")
		}
	}
	return nil
}

// guard asks for a kernel that says nothing whether it is there: code that prints
// nothing is fine, and a kernel that somebody removed never answers.
func (x *run) guard(ctx context.Context) error {
	host := x.i.control.host
	idle := 0
	for before := int64(0); ; {
		if err := host.Sleep(ctx, poll); err != nil {
			return err
		}
		k, err := x.i.kernel(ctx, x.kernel)
		now := x.heard.Load()
		switch {
		case statusOf(err) == 404:
			return endedBy("ContextRemoved", "the kernel was removed")
		case err == nil && k.State == "idle" && x.sink.replied.Load():
			return errEnded // its last word was missed
		case err == nil && k.State == "idle" && now == before:
			idle++
		case err == nil:
			idle = 0
		}
		if idle > 1 {
			return endedBy("ExecutionAborted", "the kernel is idle and says nothing of the code: it was restarted, or dropped it")
		}
		if err == nil {
			x.alive()
		}
		before = now
	}
}

// failure names what happened to the code as truly as can be known.
func (x *run) failure(ctx context.Context, watch plane.Watch, err error) error {
	var clock transport.Timeout
	isClock := errors.As(err, &clock)
	switch {
	case ctx.Err() != nil:
		x.stop(ctx, false)
		return connect.Cancelled(ctx)
	case x.sink.failed != nil:
		x.stop(ctx, false)
		return x.sink.failed
	case isClock && clock.Clock == transport.ClockCommand:
		return core.TimedOut(watch.Command, x.stop(ctx, true))
	case isClock && clock.Clock == transport.ClockIdle:
		e := connect.ClockFired(clock)
		e.Killed = x.stop(ctx, true) == core.Free
		return e
	}
	var cut *connect.Cut
	if errors.As(err, &cut) || (errors.Is(err, io.EOF) && x.id != "") {
		return core.Lost(x.i.sandbox, cut)
	}
	return refused(connect.Classify(ctx, err, area))
}

// stop interrupts the kernel, but only when it runs this code: others may run
// before it.
func (x *run) stop(ctx context.Context, wait bool) core.Verdict {
	switch {
	case x.socket == nil:
		return core.Unknown
	case !x.sink.begun:
		return core.Queued
	}
	x.socket.Close()
	detached, disarm := x.i.control.host.Detached(ctx, cleanup)
	defer disarm()
	switch {
	case x.i.interrupt(detached, x.kernel) != nil, !wait:
		return core.Unknown
	case x.i.idle(detached, x.kernel):
		return core.Free
	}
	return core.Busy
}

func stateOf(content json.RawMessage) string {
	var s struct {
		State string `json:"execution_state"`
	}
	_ = json.Unmarshal(content, &s)
	return s.State
}

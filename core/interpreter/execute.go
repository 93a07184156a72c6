package interpreter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/retry"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// silence is how long lines may still come after the last one.
const silence = time.Second

// execution is one run of code under its clocks: command, then idle, then request,
// each nested in the one before.
type execution struct {
	c     *Client
	spec  plane.CodeSpec
	watch plane.Watch
	ctx   context.Context // the innermost
	alive func()          // resets the idle clock

	request *transport.Request
	resp    *transport.Response
	lines   *lines
	sink    *heard
	quiet   func() // resets the clock after the end; nil = it does not run
	disarm  func() // ends it
}

// heard notes whether the sink itself failed.
type heard struct {
	plane.CodeSink
	failed error
}

func (h *heard) note(err error) error {
	if err != nil {
		h.failed = err
	}
	return err
}

func (h *heard) Counted(n int64) error { return h.note(h.CodeSink.Counted(n)) }

func (h *heard) Output(ch plane.Channel, text []byte) error {
	return h.note(h.CodeSink.Output(ch, text))
}

func (h *heard) Result(piece []byte, last bool) error { return h.note(h.CodeSink.Result(piece, last)) }

func (h *heard) Pause() error { return h.note(h.CodeSink.Pause()) }

func (h *heard) Raised(e *plane.CodeError) error { return h.note(h.CodeSink.Raised(e)) }

// Execute runs code to its end. Code that nobody waits for any more, because ctx
// has ended or a clock has fired, is interrupted.
func (c *Client) Execute(ctx context.Context, spec plane.CodeSpec, watch plane.Watch, sink plane.CodeSink) error {
	h := c.cfg.Host
	timed, _, disarmCommand := h.Limit(ctx, transport.ClockCommand, watch.Command)
	defer disarmCommand()
	lively, alive, disarmIdle := h.Limit(timed, transport.ClockIdle, watch.Idle)
	defer disarmIdle()
	x := &execution{c: c, spec: spec, watch: watch, ctx: lively, alive: alive, sink: &heard{CodeSink: sink}, disarm: func() {}}
	defer func() { x.disarm() }()
	if err := x.open(); err != nil {
		return x.failure(ctx, err)
	}
	defer x.resp.Body.Close()
	err := x.read()
	if x.lines.ended && x.sink.failed == nil && ctx.Err() == nil {
		return nil
	}
	return x.failure(ctx, err)
}

// open begins the run. It repeats what the peer cannot have begun.
func (x *execution) open() error {
	body, err := json.Marshal(struct {
		Code      string            `json:"code"`
		ContextID string            `json:"context_id,omitempty"`
		Language  string            `json:"language,omitempty"`
		Envs      map[string]string `json:"env_vars,omitempty"`
	}{x.spec.Code, x.spec.ContextID, x.spec.Language, x.spec.Envs})
	if err != nil {
		return fault.InvalidArgument("the code cannot be written as JSON").Because(err)
	}
	x.request = x.c.request("POST", "/execute", body)
	x.request.Lasting, x.request.Alone = true, true
	if x.c.cfg.AccessToken != "" {
		x.request.Header = append(x.request.Header, [2]string{headerToken, x.c.cfg.AccessToken})
	}
	starting, _, begun := x.c.cfg.Host.Limit(x.ctx, transport.ClockRequest, x.watch.Request)
	defer begun()
	return retry.Do(starting, x.c.cfg.Host, x.c.cfg.Retry, false, func(ctx context.Context) error {
		return x.c.explain(ctx, classify(ctx, x.try(ctx)))
	})
}

func (x *execution) try(ctx context.Context) error {
	resp, err := x.c.cfg.Host.Do(ctx, x.request)
	if err != nil {
		return err
	}
	if resp.Status != 200 {
		defer resp.Body.Close()
		return x.c.refused(ctx, resp)
	}
	x.resp = resp
	return nil
}

// read gives lines to the sink until the answer ends or, after its last line,
// falls silent.
func (x *execution) read() error {
	x.lines = newLines(x.sink)
	for {
		chunk, err := x.resp.Body.Next(x.ctx)
		if err != nil {
			return x.over(err)
		}
		x.alive()
		used, err := x.lines.push(chunk)
		if err == nil {
			err = x.sink.Pause()
		}
		switch {
		case x.sink.failed != nil:
			return x.sink.failed
		case err != nil:
			return x.c.secrets().Breach("lines of JSON, not "+err.Error(), chunk[used:])
		case x.lines.ended && !x.idles(chunk):
			x.settle()
		}
	}
}

// idles tells whether chunk has nothing but space between lines. After the end that
// is no line, and holds nobody.
func (x *execution) idles(chunk []byte) bool {
	return x.quiet != nil && x.lines.at == between && len(bytes.TrimSpace(chunk)) == 0
}

// settle begins the clock of what may come after the end, and begins it anew.
func (x *execution) settle() {
	if x.quiet != nil {
		x.quiet()
		return
	}
	x.ctx, x.quiet, x.disarm = x.c.cfg.Host.Limit(x.ctx, transport.ClockSilence, silence)
}

// over: the answer has ended. One that ends with an error of the code has said how
// it ended, last line or not.
func (x *execution) over(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		if x.ctx.Err() != nil {
			return err
		}
		return &connect.Cut{Cause: err}
	case x.lines.at != between:
	case x.lines.raised:
		x.lines.ended = true
		return nil
	case x.lines.spoken != "":
		return fault.New(fault.CodeCodeExecution, "the code interpreter failed: %s", connect.Clip(x.hidden(x.lines.spoken)))
	}
	return &connect.Cut{}
}

func (x *execution) hidden(words string) string {
	return string(x.c.secrets().Hide([]byte(words)))
}

// failure names what happened to the code as truly as can be known.
func (x *execution) failure(ctx context.Context, err error) error {
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
		return x.timedOut(x.stop(ctx, true))
	case isClock && clock.Clock == transport.ClockIdle:
		e := connect.ClockFired(clock)
		v := x.stop(ctx, false)
		e.Killed = v == Free || v == Waited
		return e
	}
	var cut *connect.Cut
	if errors.As(err, &cut) {
		return x.c.explain(ctx, x.lost(cut))
	}
	return classify(ctx, err)
}

func (x *execution) timedOut(v Verdict) error { return TimedOut(x.watch.Command, v) }

// TimedOut is the error of code whose command clock fired.
func TimedOut(after time.Duration, v Verdict) *fault.Error {
	limit := connect.Seconds(after)
	var e *fault.Error
	switch v {
	case Free:
		e = fault.New(fault.CodeCommandTimeout, "the code was still running after its timeout of %s; it was interrupted, and its context can be used again", limit)
	case Busy:
		e = fault.New(fault.CodeCodeExecution, "the code was still running after its timeout of %s and takes no notice of an interrupt: its context is still busy after %s more", limit, connect.Seconds(patience))
	case Waited:
		e = fault.New(fault.CodeCodeExecution, "the code had not begun after its timeout of %s: its context is busy with other code", limit)
	case Queued:
		e = fault.New(fault.CodeCommandTimeout, "the code had not begun after its timeout of %s, since its context is busy with other code; it cannot be taken back, and runs when its turn comes", limit)
	default:
		e = fault.New(fault.CodeCommandTimeout, "the code was still running after its timeout of %s; it may still run", limit)
	}
	e.Clock, e.Limit, e.Killed = transport.ClockCommand, after, v == Free || v == Waited
	if v == Busy || v == Waited || v == Queued {
		return e.Suggest("restart the context with %s, or use another one", fault.Option("restart_code_context"))
	}
	return e.Suggest("raise %s, or set it to 0 for none", fault.Option("timeout_ms"))
}

func (x *execution) lost(cut *connect.Cut) *fault.Error { return Lost(x.c.cfg.SandboxID, cut) }

// Lost is the error of code whose connection ended before it did.
func Lost(sandboxID string, cut *connect.Cut) *fault.Error {
	e := fault.New(fault.CodeConnectionLost, "the connection ended before the code did: its outcome is unknown").Because(cut)
	e.SandboxID = sandboxID
	return e.Suggest("run something in the same context to see what was done")
}

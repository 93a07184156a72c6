package driver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/agent-sandbox/agent-sandbox/conformance/runner"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/wasm/host"
)

// follower keeps the output of a process, and passes it to callbacks.
type follower struct {
	on     []string
	keep   bool
	emit   func(string, any)
	kept   map[host.Stream][]byte
	text   map[host.Stream]*core.TextDecoder
	cancel context.CancelCauseFunc
	pid    chan uint32
	done   chan struct{}
	result any
	err    error
}

var streamNames = map[host.Stream]string{host.Stdout: "stdout", host.Stderr: "stderr", host.PTY: "pty"}

func (c *framedCall) follower() *follower {
	return &follower{
		on: c.On, keep: c.RetainOutput == nil || *c.RetainOutput, emit: c.emit, kept: map[host.Stream][]byte{},
		text: map[host.Stream]*core.TextDecoder{host.Stdout: {}, host.Stderr: {}, host.PTY: {}},
		pid:  make(chan uint32, 1), done: make(chan struct{}), cancel: func(error) {},
	}
}

func (f *follower) call() host.Call {
	return host.Call{Event: f.event, Output: f.output}
}

func (f *follower) event(kind string, text json.RawMessage) {
	var e struct {
		PID uint32 `json:"pid"`
	}
	if json.Unmarshal(text, &e) == nil && kind == "started" {
		f.tell("start", e.PID)
		f.pid <- e.PID
	}
}

func (f *follower) output(s host.Stream, b []byte) {
	if f.keep && s != host.PTY {
		f.kept[s] = append(f.kept[s], b...)
	}
	f.tell(streamNames[s], b)
	f.tellText(s, f.text[s].Decode(b))
}

func (f *follower) tell(kind string, value any) {
	if slices.Contains(f.on, kind) {
		f.emit(kind, value)
	}
}

func (f *follower) tellText(s host.Stream, text string) {
	if text != "" {
		f.tell(streamNames[s]+"_text", text)
	}
}

// end is the result with the output that was kept.
func (f *follower) end(text json.RawMessage, err error) (any, error) {
	f.tellText(host.Stdout, f.text[host.Stdout].Flush())
	f.tellText(host.Stderr, f.text[host.Stderr].Flush())
	var failed *host.Failure
	if errors.As(err, &failed) && (failed.Partial != nil || failed.Cancelled) {
		failed.Partial, err = f.withOutput(failed.Partial)
		return nil, errors.Join(err, failed)
	}
	if err != nil {
		return nil, err
	}
	return f.withOutput(text)
}

func (f *follower) withOutput(end json.RawMessage) (json.RawMessage, error) {
	r := &core.CommandResult{StdoutBytes: f.kept[host.Stdout], StderrBytes: f.kept[host.Stderr]}
	var e struct {
		ExitCode int    `json:"exit_code"`
		Signal   string `json:"signal"`
		Error    string `json:"error"`
	}
	if end != nil {
		if err := json.Unmarshal(end, &e); err != nil {
			return nil, err
		}
	}
	r.ExitCode, r.Signal, r.ErrorText = e.ExitCode, e.Signal, e.Error
	return json.Marshal(commandResult(r))
}

func (c *framedCall) run() (any, error) {
	f := c.follower()
	return f.end(c.do(f.call()))
}

// start settles when the process runs; what comes later are events of this call.
func (c *framedCall) start() (any, error) {
	f := c.follower()
	var started context.Context
	started, f.cancel = context.WithCancelCause(context.WithoutCancel(c.ctx))
	q, caller := f.call(), c.ctx
	emit := f.emit
	f.emit = func(kind string, value any) {
		emit(kind, value)
		if kind == c.DisconnectOn {
			f.cancel(host.ErrDetach)
		}
	}
	c.ctx = started
	c.s.calls.Go(func() {
		defer close(f.done)
		f.result, f.err = f.end(c.do(q))
	})
	select {
	case pid := <-f.pid:
		return c.follow(f, pid), nil
	case <-f.done:
	case <-caller.Done():
		f.cancel(context.Cause(caller))
		<-f.done
	}
	select {
	case pid := <-f.pid:
		return c.follow(f, pid), nil
	default:
		return nil, f.err
	}
}

func (c *framedCall) follow(f *follower, pid uint32) any {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.followed[c.As] = f
	return map[string]any{"pid": pid}
}

func (c *framedCall) process() (*follower, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if f := c.s.followed[c.As]; f != nil {
		return f, nil
	}
	return nil, errors.New("the case has started no process of that name")
}

func (c *framedCall) wait() (any, error) {
	f, err := c.process()
	if err != nil {
		return nil, err
	}
	select {
	case <-f.done:
		return f.result, f.err
	case <-c.ctx.Done():
		return nil, context.Cause(c.ctx)
	}
}

func (c *framedCall) disconnect() (any, error) {
	f, err := c.process()
	if err == nil {
		f.cancel(host.ErrDetach)
	}
	return nil, err
}

func (c *framedCall) send() (any, error) { return c.do(host.Call{Attached: c.Data.bytes}) }

func (c *framedCall) streamStdin() (any, error) {
	return c.do(host.Call{Input: func(context.Context) ([]byte, error) {
		if len(c.Pieces) == 0 {
			return nil, io.EOF
		}
		b := c.Pieces[0].bytes
		c.Pieces = c.Pieces[1:]
		return b, nil
	}})
}

// framedFailure shows an error in every form.
func framedFailure(err error) *runner.Failure {
	f := failure(err)
	var e *host.Failure
	if !errors.As(err, &e) {
		return f
	}
	f.Texts = append(f.Texts, e.CauseText, e.Suggestion)
	f.Code, f.Message, f.Suggestion, f.Status, f.RequestID = e.Code, e.Message, e.Suggestion, e.Status, e.RequestID
	f.Option = e.Option
	f.Retryable, f.RetryAfterMS, f.Kind, f.Clock, f.Killed = e.Retryable, e.RetryAfterMS, e.Kind, e.Clock, e.Killed
	f.LimitMS, f.SandboxID, f.PID, f.Cancelled = float64(e.LimitMS), e.SandboxID, e.PID, e.Cancelled
	if e.Partial != nil {
		f.Partial = e.Partial
	}
	return f
}

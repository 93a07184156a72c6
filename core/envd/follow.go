package envd

import (
	"context"
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/retry"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// silence is how long output may still come after the end event.
const silence = time.Second

// Start runs a process and follows it to its end.
func (c *Client) Start(ctx context.Context, spec plane.StartSpec, watch plane.Watch, sink plane.Sink) (*plane.End, error) {
	return c.follow(ctx, service+"Start", spec.User, startRequest{spec}, watch, sink)
}

// Attach follows a running process; only new output comes (e2b.md 3.4).
func (c *Client) Attach(ctx context.Context, sel plane.Selector, watch plane.Watch, sink plane.Sink) (*plane.End, error) {
	return c.follow(ctx, service+"Connect", "", selectRequest{sel}, watch, sink)
}

// follower reads one process stream under its clocks: command, then idle, then
// request, each nested in the one before.
type follower struct {
	c         *Client
	watch     plane.Watch
	sink      plane.Sink
	ctx       context.Context // the innermost; Do and Next are called with it
	alive     func()          // resets the idle clock
	hasBegun  func()          // disarms the request clock
	stream    *connect.Stream
	ev        event
	codec     connect.Codec
	pid       uint32
	begun     bool
	end       *plane.End
	sinkError error
}

func (c *Client) follow(ctx context.Context, procedure, user string, in connect.Encoder, watch plane.Watch, sink plane.Sink) (*plane.End, error) {
	h := c.cfg.Host
	timed, _, disarmCommand := h.Limit(ctx, transport.ClockCommand, withSlack(watch.Command))
	defer disarmCommand()
	lively, alive, disarmIdle := h.Limit(timed, transport.ClockIdle, watch.Idle)
	defer disarmIdle()
	starting, _, begun := h.Limit(lively, transport.ClockRequest, watch.Request)
	defer begun()
	f := &follower{c: c, watch: watch, sink: sink, ctx: starting, alive: alive, hasBegun: begun}
	if err := f.open(procedure, user, in, processArea); err != nil {
		return nil, f.failure(ctx, err)
	}
	defer f.stream.Close()
	err := f.read()
	if f.end != nil && f.sinkError == nil && ctx.Err() == nil {
		return f.end, nil
	}
	return nil, f.failure(ctx, err)
}

// withSlack lets the peer's own command clock fire first.
func withSlack(command time.Duration) time.Duration {
	if command <= 0 {
		return 0
	}
	slack := min(max(command/10, 200*time.Millisecond), 400*time.Millisecond)
	return min(command, math.MaxInt64-slack) + slack
}

// open repeats what the peer cannot have begun: a connection never made, a
// gateway that found nobody at work yet. Its error is explained.
func (f *follower) open(procedure, user string, in connect.Encoder, area connect.Area) error {
	return retry.Do(f.ctx, f.c.cfg.Host, f.c.cfg.Retry, false, func(ctx context.Context) error {
		err := f.c.spoken(user, func(rpc connect.Client) (err error) {
			rpc.Header = append(rpc.Header, f.clockHeaders()...)
			f.codec = rpc.Codec
			f.stream, err = rpc.Open(ctx, procedure, in)
			return err
		})
		return f.c.unopened(ctx, connect.Classify(ctx, err, area))
	})
}

// unopened explains why a stream did not begin. A gateway that answers for the
// health probe as well has kept the call from a sandbox that may be starting.
func (c *Client) unopened(ctx context.Context, err error) error {
	explained := c.explain(ctx, err)
	e, page := fault.As(explained), fault.As(err)
	if page != nil && page.Status == 502 && page.SandboxID == "" && e.Code == fault.CodeSandboxNotFound {
		e.Cause = undelivered{e.Cause}
	}
	return explained
}

// undelivered marks a call that the sandbox cannot have seen: any may be repeated.
type undelivered struct{ error }

func (u undelivered) NeverSent() bool { return true }
func (u undelivered) Unwrap() error   { return u.error }

// maxTimeoutMS is the largest Connect-Timeout-Ms: ten digits.
const maxTimeoutMS = 9_999_999_999

// clockHeaders tell the peer the command clock and how often to show life
// (e2b.md 3.3). Both are whole numbers of at least 1.
func (f *follower) clockHeaders() transport.Header {
	ping := 50 * time.Second
	if f.watch.Idle > 0 {
		ping = min(ping, max(f.watch.Idle/3, time.Second))
	}
	h := transport.Header{{"keepalive-ping-interval", strconv.Itoa(int(ping / time.Second))}}
	if f.watch.Command > 0 {
		ms := (f.watch.Command-1)/time.Millisecond + 1
		h = append(h, [2]string{"connect-timeout-ms", strconv.FormatInt(min(int64(ms), maxTimeoutMS), 10)})
	}
	return h
}

// read delivers events until the stream ends or, after the end event, falls silent.
func (f *follower) read() error {
	quiet := func() {}
	for {
		msg, err := f.stream.Next(f.ctx)
		if err != nil {
			if errors.Is(err, io.EOF) && f.end == nil {
				return &connect.Cut{}
			}
			return err
		}
		f.alive()
		if err := connect.Parse(f.codec, &f.ev, msg); err != nil {
			return f.stream.Unexpected("a process event", msg)
		}
		if f.sinkError = f.deliver(); f.sinkError != nil {
			return f.sinkError
		}
		if f.end != nil && f.end == f.ev.end {
			var disarm func()
			f.ctx, quiet, disarm = f.c.cfg.Host.Limit(f.ctx, transport.ClockSilence, silence)
			defer disarm()
		}
		if f.ev.output { // a sign of life is not output
			quiet()
		}
	}
}

func (f *follower) deliver() error {
	switch {
	case f.ev.output:
		return f.sink.Output(f.ev.channel, f.ev.data)
	case f.ev.end != nil && f.end == nil: // what comes after the end cannot change it
		f.end = f.ev.end
	case f.ev.started && !f.begun:
		f.hasBegun()
		f.begun, f.pid = true, f.ev.pid
		return f.sink.Started(f.ev.pid)
	}
	return nil
}

// failure names what happened to the process as truly as can be known.
func (f *follower) failure(ctx context.Context, err error) error {
	if f.sinkError != nil {
		return f.sinkError
	}
	var clock transport.Timeout
	if errors.As(err, &clock) && clock.Clock == transport.ClockCommand {
		return f.timedOut(f.kill(ctx, transport.ClockCommand))
	}
	var answer *connect.Error
	if errors.As(err, &answer) && answer.Code == "deadline_exceeded" && !answer.Plain && f.watch.Command > 0 {
		return f.timedOut(true)
	}
	var cut *connect.Cut
	if errors.As(err, &cut) && ctx.Err() == nil {
		return f.c.explain(ctx, f.lost(cut))
	}
	e := fault.As(connect.Classify(ctx, err, processArea))
	e.PID = f.pid
	if e.Code == fault.CodeRequestTimeout && e.Clock != "" {
		return f.stuck(ctx, e)
	}
	if f.stream == nil {
		return e // explained when it did not open
	}
	return f.c.explain(ctx, e)
}

// stuck ends the process and asks at the same time whether the sandbox lives: the
// caller has waited long enough.
func (f *follower) stuck(ctx context.Context, e *fault.Error) error {
	asked, _, disarm := f.c.cfg.Host.Limit(ctx, transport.ClockRequest, plane.Patience)
	defer disarm()
	var explained error = e
	killed := false
	err := f.c.cfg.Host.Par(asked, 2, 2, func(ctx context.Context, i int) error {
		switch {
		case i == 0:
			killed = f.kill(ctx, e.Clock)
		case e.Clock == transport.ClockIdle:
			explained = f.c.probed(ctx, e)
		}
		return nil
	})
	if fault.CodeOf(err) == fault.CodeInternal {
		return err
	}
	if e.Killed = killed; killed {
		_ = e.Suggest("the command was killed: raise %s, or set it to 0 for none", connect.ClockOption(e.Clock))
	} else if e.Clock == transport.ClockIdle {
		_ = e.Suggest("attach to the process again if the sandbox still answers, or raise %s", connect.ClockOption(e.Clock))
	}
	return explained
}

func (f *follower) kill(ctx context.Context, clock string) bool {
	asked, _, disarm := f.c.cfg.Host.Limit(ctx, transport.ClockRequest, plane.Patience)
	defer disarm()
	return f.watch.Kill != nil && ctx.Err() == nil && f.watch.Kill(asked, clock, f.pid)
}

// Cleanup is the clock of what may still be done after a cancel or timeout.
const Cleanup = 5 * time.Second

func (f *follower) timedOut(killed bool) error {
	state := "it was killed"
	if !killed {
		state = "it may still run"
	}
	e := fault.New(fault.CodeCommandTimeout, "the command was still running after its timeout of %s; %s", connect.Seconds(f.watch.Command), state)
	e.Clock, e.Limit, e.Killed, e.PID = transport.ClockCommand, f.watch.Command, killed, f.pid
	return e.Suggest("raise %s, or set it to 0 for none", fault.Option("timeout_ms"))
}

func (f *follower) lost(cut *connect.Cut) *fault.Error {
	e := fault.New(fault.CodeConnectionLost, "the connection ended before the command's end event: its outcome is unknown").Because(cut)
	e.PID, e.SandboxID = f.pid, f.c.cfg.SandboxID
	if f.pid != 0 {
		return e.Suggest("attach to process %d again to follow it", f.pid)
	}
	return e.Suggest("list the processes to see whether it was started")
}

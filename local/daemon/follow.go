package daemon

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	processpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// relay is the way of events to one client.
type relay struct {
	send      func(*processpb.ProcessEvent) error
	keepalive time.Duration
	// starter follows to the end of the command even when ctx has reached its
	// deadline, which is the command's own.
	starter bool
	data    outputEvent
}

// follow sends start, everything that s receives, and end.
func follow(ctx context.Context, c *command, s *subscriber, r *relay) error {
	defer leave(c, s)
	out := bundleOf(ctx)
	defer func() { out.hold = false }()
	if err := r.send(startEvent(c.pid)); err != nil {
		return err
	}
	timer := time.NewTimer(r.keepalive)
	defer timer.Stop()
	left := ctx.Done()
	for {
		select {
		case piece := <-s.queue:
			if err := r.pass(piece, out, s); err != nil {
				return err
			}
		case <-c.done:
			return r.finish(c, s, out)
		case <-timer.C:
			if err := r.send(keepaliveEvent()); err != nil {
				return err
			}
		case <-s.cut:
			return connect.NewError(connect.CodeResourceExhausted, errors.New("the output was not read fast enough"))
		case <-left:
			if !r.starter || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			left = nil
		}
		timer.Reset(r.keepalive)
	}
}

// leave gives back what the subscriber has not sent.
func leave(c *command, s *subscriber) {
	c.output.unsubscribe(s)
	for {
		select {
		case piece := <-s.queue:
			piece.release()
		default:
			return
		}
	}
}

// pass sends a piece, together with those that wait behind it.
func (r *relay) pass(piece *chunk, out *bundle, s *subscriber) error {
	out.hold = len(s.queue) > 0
	err := r.send(r.data.of(piece))
	piece.release()
	return err
}

// finish sends what is left in the queue, and how the command ended.
func (r *relay) finish(c *command, s *subscriber, out *bundle) error {
	for len(s.queue) > 0 {
		if err := r.pass(<-s.queue, out, s); err != nil {
			return err
		}
	}
	out.hold = false
	if r.starter && c.expired.Load() {
		return connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded)
	}
	out.last = true
	return r.send(&processpb.ProcessEvent{Event: &processpb.ProcessEvent_End{End: c.end}})
}

func startEvent(pid uint32) *processpb.ProcessEvent {
	return &processpb.ProcessEvent{Event: &processpb.ProcessEvent_Start{Start: &processpb.ProcessEvent_StartEvent{Pid: pid}}}
}

func keepaliveEvent() *processpb.ProcessEvent {
	return &processpb.ProcessEvent{Event: &processpb.ProcessEvent_Keepalive{Keepalive: &processpb.ProcessEvent_KeepAlive{}}}
}

// outputEvent is a data event that is filled anew for each piece: a message is
// serialised before send returns.
type outputEvent struct {
	event  *processpb.ProcessEvent
	data   *processpb.ProcessEvent_DataEvent
	stdout processpb.ProcessEvent_DataEvent_Stdout
	stderr processpb.ProcessEvent_DataEvent_Stderr
	pty    processpb.ProcessEvent_DataEvent_Pty
}

func (o *outputEvent) of(piece *chunk) *processpb.ProcessEvent {
	if o.event == nil {
		o.data = &processpb.ProcessEvent_DataEvent{}
		o.event = &processpb.ProcessEvent{Event: &processpb.ProcessEvent_Data{Data: o.data}}
	}
	switch piece.from {
	case streamStdout:
		o.stdout.Stdout = piece.data
		o.data.Output = &o.stdout
	case streamStderr:
		o.stderr.Stderr = piece.data
		o.data.Output = &o.stderr
	default:
		o.pty.Pty = piece.data
		o.data.Output = &o.pty
	}
	return o.event
}

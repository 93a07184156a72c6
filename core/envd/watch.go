package envd

import (
	"context"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// WatchDir follows the changes below a directory. watch.Command bounds the
// whole watch (0 = none) and ends it without an error.
func (c *Client) WatchDir(ctx context.Context, spec plane.WatchSpec, watch plane.Watch, started func() error, event func(plane.Event) error) error {
	if err := c.watchable(spec); err != nil {
		return err
	}
	h := c.cfg.Host
	lively, alive, disarmIdle := h.Limit(ctx, transport.ClockIdle, watch.Idle)
	defer disarmIdle()
	starting, _, begun := h.Limit(lively, transport.ClockRequest, watch.Request)
	defer begun()
	f := &follower{c: c, watch: watch, ctx: starting}
	if err := f.open(filesystem+"WatchDir", spec.User, watchRequest{spec}, fileArea); err != nil {
		return c.kindOf(ctx, err, spec.Path, spec.User, plane.TypeFile, fault.KindNotDirectory)
	}
	defer f.stream.Close()
	for {
		var m watchMessage
		msg, err := f.stream.Next(f.ctx)
		if err == nil {
			err = connect.Parse(f.codec, &m, msg)
		}
		if err != nil {
			return c.watchFailure(ctx, spec, err)
		}
		alive()
		switch {
		case m.started:
			begun()
			err = started()
		case m.event != nil:
			err = event(*m.event)
		}
		if err != nil {
			return err
		}
	}
}

func (c *Client) watchFailure(ctx context.Context, spec plane.WatchSpec, err error) error {
	var answer *connect.Error
	if errors.As(err, &answer) && answer.Code == "deadline_exceeded" && !answer.Plain {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fault.New(fault.CodeConnectionLost, "the watch of %s was ended by the sandbox", spec.Path).Suggest("watch again")
	}
	var cut *connect.Cut
	if errors.As(err, &cut) && ctx.Err() == nil {
		lost := fault.New(fault.CodeConnectionLost, "the connection of the watch of %s ended: later events are unknown", spec.Path).Because(cut)
		return c.explain(ctx, lost.Suggest("watch again, and list the directory to see what was missed"))
	}
	err = connect.Classify(ctx, err, fileArea)
	return c.explain(ctx, c.kindOf(ctx, err, spec.Path, spec.User, plane.TypeFile, fault.KindNotDirectory))
}

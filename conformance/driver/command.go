package driver

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core"
)

type commandJSON struct {
	Command string   `json:"command"`
	Argv    []string `json:"argv"`
	As      string   `json:"as"` // name of a process; default main
	runJSON
}

func run(c *call) (any, error) {
	var q commandJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	result, err := c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) {
		if q.Argv != nil {
			return s.Commands.Exec(ctx, q.Argv, q.options(c.emit))
		}
		return s.Commands.Run(ctx, q.Command, q.options(c.emit))
	})
	return shown(result, err)
}

func shown(result any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	r, _ := result.(*core.CommandResult)
	return commandResult(r), nil
}

func start(c *call) (any, error) {
	var q commandJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	emit, ready := c.disconnecting(q.DisconnectOn)
	return c.begin(q.As, startCall{command: q.Command, argv: q.Argv, o: q.options(emit), ready: ready})
}

// disconnecting is an emit that disconnects at the first callback of a kind.
func (c *call) disconnecting(kind string) (emit func(string, any), ready chan process) {
	ready = make(chan process, 1)
	return func(k string, v any) {
		c.emit(k, v)
		if k == kind {
			(<-ready).Disconnect()
		}
	}, ready
}

func (c *call) begin(as string, q startCall) (any, error) {
	p, err := c.back.start(c.ctx, c.s, q)
	if err != nil {
		return nil, err
	}
	if q.ready != nil {
		q.ready <- p
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.processes[as] = p
	return map[string]any{"pid": p.PID()}, nil
}

func attach(c *call) (any, error) { return c.attach(false) }

func attachPTY(c *call) (any, error) { return c.attach(true) }

func (c *call) attach(pty bool) (any, error) {
	var q struct {
		As  string `json:"as"`
		PID uint32 `json:"pid"`
		runJSON
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	sel := core.Selector{PID: q.PID, Tag: q.Tag}
	q.Tag = ""
	return c.begin(q.As, startCall{attach: true, pty: pty, sel: sel, o: q.options(c.emit)})
}

func startPTY(c *call) (any, error) {
	var q struct {
		Cols uint32 `json:"cols"`
		Rows uint32 `json:"rows"`
		commandJSON
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.begin(q.As, startCall{pty: true, size: core.Size{Cols: q.Cols, Rows: q.Rows}, argv: q.Argv, o: q.options(c.emit)})
}

func (c *call) process() (process, error) {
	var q struct{ As string }
	_ = json.Unmarshal(c.params, &q)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if p := c.s.processes[q.As]; p != nil {
		return p, nil
	}
	return nil, errors.New("the case has started no process of that name")
}

func wait(c *call) (any, error) {
	p, err := c.process()
	if err != nil {
		return nil, err
	}
	r, err := p.Wait(c.ctx)
	return shown(r, err)
}

func disconnect(c *call) (any, error) {
	p, err := c.process()
	if err != nil {
		return nil, err
	}
	p.Disconnect()
	return nil, nil
}

func listProcesses(c *call) (any, error) {
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) { return s.Commands.List(ctx) })
}

func (c *call) selected(fn func(context.Context, *core.Sandbox, core.Selector) (any, error)) (any, error) {
	var q selectorJSON
	if err := json.Unmarshal(c.params, &q); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) { return fn(ctx, s, q.selector()) })
}

func killProcess(c *call) (any, error) {
	return c.selected(func(ctx context.Context, s *core.Sandbox, sel core.Selector) (any, error) {
		return s.Commands.Kill(ctx, sel)
	})
}

func signal(c *call) (any, error) {
	var q struct {
		selectorJSON
		Signal int `json:"signal"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.selected(func(ctx context.Context, s *core.Sandbox, sel core.Selector) (any, error) {
		return s.Commands.Signal(ctx, sel, core.Signal(q.Signal))
	})
}

func killPTY(c *call) (any, error) {
	return c.selected(func(ctx context.Context, s *core.Sandbox, sel core.Selector) (any, error) {
		return s.Pty.Kill(ctx, sel)
	})
}

type inputJSON struct {
	selectorJSON
	Data content `json:"data"`
}

func sendStdin(c *call) (any, error) {
	var q inputJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.selected(func(ctx context.Context, s *core.Sandbox, sel core.Selector) (any, error) {
		return nil, s.Commands.SendStdin(ctx, sel, q.Data.bytes)
	})
}

func sendInput(c *call) (any, error) {
	var q inputJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.selected(func(ctx context.Context, s *core.Sandbox, sel core.Selector) (any, error) {
		return nil, s.Pty.SendInput(ctx, sel, q.Data.bytes)
	})
}

func streamStdin(c *call) (any, error) {
	return c.stream(func(ctx context.Context, s *core.Sandbox, sel core.Selector, next func(context.Context) ([]byte, error)) error {
		return s.Commands.StreamStdin(ctx, sel, next)
	})
}

func streamInput(c *call) (any, error) {
	return c.stream(func(ctx context.Context, s *core.Sandbox, sel core.Selector, next func(context.Context) ([]byte, error)) error {
		return s.Pty.StreamInput(ctx, sel, next)
	})
}

type streamCall = func(context.Context, *core.Sandbox, core.Selector, func(context.Context) ([]byte, error)) error

func (c *call) stream(fn streamCall) (any, error) {
	var q struct {
		selectorJSON
		Pieces []content `json:"pieces"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	next := func(context.Context) ([]byte, error) {
		if len(q.Pieces) == 0 {
			return nil, io.EOF
		}
		b := q.Pieces[0].bytes
		q.Pieces = q.Pieces[1:]
		return b, nil
	}
	return c.selected(func(ctx context.Context, s *core.Sandbox, sel core.Selector) (any, error) {
		return nil, fn(ctx, s, sel, next)
	})
}

func closeStdin(c *call) (any, error) {
	return c.selected(func(ctx context.Context, s *core.Sandbox, sel core.Selector) (any, error) {
		return nil, s.Commands.CloseStdin(ctx, sel)
	})
}

func resize(c *call) (any, error) {
	var q struct {
		selectorJSON
		Cols uint32 `json:"cols"`
		Rows uint32 `json:"rows"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.selected(func(ctx context.Context, s *core.Sandbox, sel core.Selector) (any, error) {
		return nil, s.Pty.Resize(ctx, sel, core.Size{Cols: q.Cols, Rows: q.Rows})
	})
}

package command

import (
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Kill is `sandboxc kill`.
type Kill struct {
	IDs []string `arg:"" name:"id" help:"The sandboxes."`
}

// Run ends them; one that does not exist is E2005, after the others have ended.
func (k *Kill) Run(a *App) error {
	return a.with(func(client *native.Client) error {
		var missing error
		ended := []string{}
		for _, id := range k.IDs {
			killed, err := client.Kill(a.ctx, id)
			if err != nil {
				return err
			}
			if !killed {
				e := fault.New(fault.CodeSandboxNotFound, "there is no sandbox %s", id).Suggest("sandboxc list shows those that exist")
				e.SandboxID = id
				missing = e
				continue
			}
			ended = append(ended, id)
		}
		if missing != nil {
			return missing
		}
		return a.Line(map[string][]string{"killed": ended}, "%s", strings.Join(ended, "\n"))
	})
}

// Pause is `sandboxc pause`.
type Pause struct {
	ID         string `arg:"" help:"The sandbox."`
	DropMemory bool   `help:"Keep files only (not the local provider)."`
}

// Run freezes it; one that is paused already is fine.
func (p *Pause) Run(a *App) error {
	return a.with(func(client *native.Client) error {
		paused, err := client.Pause(a.ctx, p.ID, core.PauseOptions{DropMemory: p.DropMemory})
		if err != nil {
			return err
		}
		return a.Line(map[string]any{"sandbox_id": p.ID, "state": "paused", "changed": paused}, "%s", p.ID)
	})
}

// Resume is `sandboxc resume`.
type Resume struct {
	ID      string   `arg:"" help:"The sandbox."`
	Timeout *float64 `placeholder:"SECONDS" help:"How long it lives from now, at least."`
}

// Run continues it; one that runs is left as it is.
func (r *Resume) Run(a *App) error {
	life, err := seconds("--timeout", r.Timeout)
	if err != nil {
		return err
	}
	return a.with(func(client *native.Client) error {
		if _, err := client.Resume(a.ctx, r.ID, core.ConnectOptions{Timeout: life}); err != nil {
			return err
		}
		return a.Line(map[string]any{"sandbox_id": r.ID, "state": "running"}, "%s", r.ID)
	})
}

// Timeout is `sandboxc timeout`.
type Timeout struct {
	ID      string  `arg:"" help:"The sandbox."`
	Seconds float64 `arg:"" help:"How long it lives from now. 0 = no end (local provider)."`
	Extend  bool    `help:"Never shorten its life."`
}

// Run sets the life.
func (t *Timeout) Run(a *App) error {
	life, err := seconds("SECONDS", &t.Seconds)
	if err != nil {
		return err
	}
	return a.with(func(client *native.Client) error {
		set := client.SetTimeout
		if t.Extend {
			set = client.KeepAlive
		}
		if err := set(a.ctx, t.ID, *life); err != nil {
			return err
		}
		return a.Line(map[string]any{"sandbox_id": t.ID, "timeout": life.Seconds()}, "%s", t.ID)
	})
}

package interpreter

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// CreateContext makes a context; its kernel starts now.
func (c *Client) CreateContext(ctx context.Context, spec plane.ContextSpec) (*plane.CodeContext, error) {
	answer, err := c.call(ctx, false, "POST", "/contexts", struct {
		Language string `json:"language,omitempty"`
		Cwd      string `json:"cwd,omitempty"`
	}{spec.Language, spec.Cwd})
	if err != nil {
		return nil, err
	}
	var made plane.CodeContext
	if json.Unmarshal(answer, &made) != nil || made.ID == "" {
		return nil, c.unexpected("a context", answer)
	}
	return &made, nil
}

// Contexts lists the contexts, each once.
func (c *Client) Contexts(ctx context.Context) ([]plane.CodeContext, error) {
	answer, err := c.call(ctx, true, "GET", "/contexts", nil)
	if err != nil {
		return nil, err
	}
	var all []plane.CodeContext
	if json.Unmarshal(answer, &all) != nil {
		return nil, c.unexpected("a list of contexts", answer)
	}
	seen := map[string]bool{}
	once := []plane.CodeContext{}
	for _, one := range all {
		if !seen[one.ID] {
			seen[one.ID] = true
			once = append(once, one)
		}
	}
	return once, nil
}

func (c *Client) unexpected(what string, b []byte) error {
	return fault.New(fault.CodeProtocol, "the peer broke the protocol: %s", c.secrets().Breach(what, b))
}

// RestartContext starts a context's kernel afresh.
func (c *Client) RestartContext(ctx context.Context, id string) error {
	_, err := c.call(ctx, false, "POST", contextPath(id)+"/restart", nil)
	return err
}

// RemoveContext ends a context; false when there is none of that id.
func (c *Client) RemoveContext(ctx context.Context, id string) (bool, error) {
	_, err := c.call(ctx, true, "DELETE", contextPath(id), nil)
	if statusOf(err) == 404 {
		return false, nil
	}
	return err == nil, err
}

// InterruptContext stops what runs in a context; false when nothing did.
func (c *Client) InterruptContext(ctx context.Context, id string) (bool, error) {
	answer, err := c.call(ctx, true, "POST", contextPath(id)+"/interrupt", nil)
	if statusOf(err) == 404 && c.has(ctx, id) {
		return false, fault.New(fault.CodeCapability, "this code interpreter cannot interrupt a context").Because(err).
			Suggest("cancel the run instead, or restart the context")
	}
	if err != nil {
		return false, err
	}
	done := interrupted(answer)
	if done.Busy {
		return true, fault.New(fault.CodeCodeExecution, "the context was interrupted and is still busy").
			Suggest("restart it with %s", fault.Option("restart_code_context"))
	}
	return done.Interrupted, nil
}

// has tells whether a context is there: its 404 then was about the route.
func (c *Client) has(ctx context.Context, id string) bool {
	all, err := c.Contexts(ctx)
	return err == nil && slices.ContainsFunc(all, func(one plane.CodeContext) bool { return one.ID == id })
}

func statusOf(err error) int {
	var answer *connect.Error
	if errors.As(err, &answer) {
		return answer.Status
	}
	return 0
}

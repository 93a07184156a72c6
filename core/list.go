package core

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
)

// ListOptions filter and page. The zero value is every sandbox, newest first.
type ListOptions struct {
	Metadata     map[string]string
	State        []string // running, paused; nil = both
	Template     string   // id or alias
	StartedAfter time.Time
	Ascending    bool // oldest first
	Limit        int  // of one page, 1 to 100; 0 = the provider's default
	NextToken    string
}

// Pages walks a list page by page, by one task.
type Pages struct {
	client *Client
	spec   provider.ListSpec
	over   bool
}

// List prepares a walk; nothing is asked before NextItems.
func (c *Client) List(o ListOptions) (*Pages, error) {
	if err := c.need(capability.List); err != nil {
		return nil, err
	}
	if len(o.Metadata) > 0 {
		if err := c.need(capability.ListMetadata); err != nil {
			return nil, err
		}
	}
	if err := checkMetadata(o.Metadata); err != nil {
		return nil, err
	}
	if o.Limit < 0 || o.Limit > 100 {
		return nil, fault.InvalidArgument("%s must be from 1 to 100, not %d", fault.Option("limit"), o.Limit)
	}
	for _, s := range o.State {
		if s != "running" && s != "paused" {
			return nil, fault.InvalidArgument("%s must be running or paused, not %q", fault.Option("state"), shorten(s))
		}
	}
	return &Pages{client: c, spec: provider.ListSpec(o)}, nil
}

// HasNext tells whether NextItems may be called.
func (p *Pages) HasNext() bool { return !p.over }

// NextToken is what a later List can go on from; "" at the end.
func (p *Pages) NextToken() string { return p.spec.NextToken }

// NextItems gives the next page. Errors: E8000 when there is none; after any
// other error the same page may be asked for again.
func (p *Pages) NextItems(ctx context.Context) ([]Info, error) {
	if p.over {
		return nil, fault.InvalidArgument("the list has no more pages").Suggest("ask first whether there is one")
	}
	page, err := p.client.control.List(ctx, p.spec)
	if err != nil {
		return nil, err
	}
	if page.NextToken != "" && page.NextToken == p.spec.NextToken {
		return nil, fault.New(fault.CodeProtocol, "the peer broke the protocol: a page of the list names itself as the next one")
	}
	p.spec.NextToken = page.NextToken
	p.over = page.NextToken == ""
	return page.Sandboxes, nil
}

// All gives every page together.
func (p *Pages) All(ctx context.Context) ([]Info, error) {
	all := []Info{}
	for p.HasNext() {
		items, err := p.NextItems(ctx)
		if err != nil {
			return all, err
		}
		all = append(all, items...)
	}
	return all, nil
}

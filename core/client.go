// Package core is the SDK: bytes in, bytes out. It does no I/O of its own; a
// transport.Host does. Go programs get one from package native.
package core

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
	"github.com/agent-sandbox/agent-sandbox/core/provider/registry"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Version of the SDK.
const Version = "0.1.0"

const userAgent = "agent-sandbox/" + Version

// Client makes and finds sandboxes on one provider. It is immutable and safe
// for concurrent use.
type Client struct {
	host     transport.Host
	settings *setting.Settings
	provider provider.Provider
	control  provider.Control
}

// NewClient binds a host and resolved settings; it makes no request. Errors:
// E8000 for settings that cannot work, E1001 where a key is needed and missing.
func NewClient(host transport.Host, settings *setting.Settings) (*Client, error) {
	p, err := registry.Find(settings.Provider, settings.Place("provider"))
	if err != nil {
		return nil, err
	}
	control, err := p.Open(provider.Config{Host: host, Settings: settings, UserAgent: userAgent})
	if err != nil {
		return nil, err
	}
	return &Client{host: host, settings: settings, provider: p, control: control}, nil
}

// Provider is the name of the backend.
func (c *Client) Provider() string { return c.provider.Name() }

// Settings are what the client was made with.
func (c *Client) Settings() setting.Settings { return *c.settings }

// Capabilities lists what the provider can do.
func (c *Client) Capabilities() capability.Set { return c.provider.Capabilities() }

func (c *Client) need(caps ...capability.Capability) error {
	for _, cap := range caps {
		if err := registry.Need(c.provider, cap); err != nil {
			return err
		}
	}
	return nil
}

// ConnectOptions say how to take an existing sandbox.
type ConnectOptions struct {
	Timeout *time.Duration // its life from now, never shortened; nil = leave it alone
	Reboot  bool           // start a paused sandbox afresh instead of restoring memory
}

// Connect takes a running sandbox as it is and resumes a paused one. Connecting
// never shortens a life. Errors: E2005 when there is no such sandbox.
func (c *Client) Connect(ctx context.Context, id string, o ConnectOptions) (*Sandbox, error) {
	if err := c.need(capability.Connect); err != nil {
		return nil, err
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	if err := c.checkLife("timeout_ms", o.Timeout); err != nil {
		return nil, err
	}
	h, err := c.control.Connect(ctx, id, provider.ConnectSpec(o))
	if err != nil {
		return nil, about(err, id)
	}
	if err := answered(h); err != nil {
		return nil, about(err, id)
	}
	if err := c.checkIsolation(h.Isolation); err != nil {
		return nil, err
	}
	return c.Open(h)
}

// Open binds a handle, such as one from handle.FromJSON, without any request.
func (c *Client) Open(h *handle.Handle) (*Sandbox, error) {
	if h.Provider != c.provider.Name() {
		return nil, fault.InvalidArgument("the handle is of provider %s, this client of %s", h.Provider, c.provider.Name()).
			On("provider").Suggest("make a client with %s %s", fault.Option("provider"), h.Provider)
	}
	if err := checkID(h.SandboxID); err != nil {
		return nil, err
	}
	if err := checkPlace(h); err != nil {
		return nil, err
	}
	if h.Domain == "" && h.URLs.Sandbox == "" && !c.settings.Debug {
		return nil, fault.InvalidArgument("the handle does not say where its sandbox is: it has neither a domain nor urls.sandbox")
	}
	return newSandbox(c, h), nil
}

// Kill ends a sandbox for good; false when there is none of that id.
func (c *Client) Kill(ctx context.Context, id string) (bool, error) {
	if err := checkID(id); err != nil {
		return false, err
	}
	return c.control.Kill(ctx, id)
}

// Info describes a sandbox, running or paused.
func (c *Client) Info(ctx context.Context, id string) (*Info, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	info, err := c.control.Info(ctx, id)
	return info, about(err, id)
}

// SetTimeout makes a sandbox end (or pause) after life from now; it may shorten.
func (c *Client) SetTimeout(ctx context.Context, id string, life time.Duration) error {
	if err := c.need(capability.Timeout); err != nil {
		return err
	}
	if err := checkID(id); err != nil {
		return err
	}
	if err := c.checkLife("timeout_ms", &life); err != nil {
		return err
	}
	return about(c.control.SetTimeout(ctx, id, life), id)
}

// KeepAlive sees to it that a sandbox lives at least for life from now; it
// never shortens.
func (c *Client) KeepAlive(ctx context.Context, id string, life time.Duration) error {
	if err := c.need(capability.Timeout); err != nil {
		return err
	}
	if err := checkID(id); err != nil {
		return err
	}
	if life <= 0 {
		return fault.InvalidArgument("%s must be more than 0, not %s", fault.Option("timeout_ms"), life)
	}
	return about(c.control.Extend(ctx, id, life), id)
}

// PauseOptions say what a pause keeps.
type PauseOptions struct {
	DropMemory bool // keep files only
}

// Pause freezes a sandbox; false when it was paused already.
func (c *Client) Pause(ctx context.Context, id string, o PauseOptions) (bool, error) {
	if err := c.need(capability.Pause); err != nil {
		return false, err
	}
	if err := checkID(id); err != nil {
		return false, err
	}
	paused, err := c.control.Pause(ctx, id, !o.DropMemory)
	return paused, about(err, id)
}

// Resume is Connect for a sandbox known to be paused.
func (c *Client) Resume(ctx context.Context, id string, o ConnectOptions) (*Sandbox, error) {
	if err := c.need(capability.Resume); err != nil {
		return nil, err
	}
	return c.Connect(ctx, id, o)
}

// Metric is one sample of a sandbox's use.
type Metric = provider.Metric

// Metrics gives samples between start and end; zero times leave that side open.
func (c *Client) Metrics(ctx context.Context, id string, start, end time.Time) ([]Metric, error) {
	if err := c.need(capability.Metrics); err != nil {
		return nil, err
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		return nil, fault.InvalidArgument("%s must not be before %s", fault.Option("end"), fault.Option("start"))
	}
	m, err := c.control.Metrics(ctx, id, start, end)
	return m, about(err, id)
}

// Network is the network configuration of a sandbox.
type Network = provider.Network

// UpdateNetwork replaces the network rules of a running sandbox; what is left
// out is cleared.
func (c *Client) UpdateNetwork(ctx context.Context, id string, n Network) error {
	if err := c.need(capability.NetworkUpdate); err != nil {
		return err
	}
	if err := checkID(id); err != nil {
		return err
	}
	return about(c.control.UpdateNetwork(ctx, id, n), id)
}

// about adds the sandbox id to an error.
func about(err error, id string) error {
	if e := fault.As(err); e != nil && e.SandboxID == "" {
		e.SandboxID = id
	}
	return err
}

package e2b

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

var createArea = connect.Area{
	Missing: fault.CodeTemplateNotFound, Exists: fault.CodeSandboxCreation, Denied: fault.CodeForbidden,
	Route: fault.CodeTemplateNotFound, Other: fault.CodeSandboxCreation, Login: login,
}

// defaultLife is what the newer API gives when no timeout is sent.
const defaultLife = 300 * time.Second

func (c *control) Create(ctx context.Context, spec provider.CreateSpec) (*handle.Handle, error) {
	if c.settings.Debug {
		return c.debugHandle(), nil
	}
	body := newSandboxOf(spec)
	var header transport.Header
	if spec.IdempotencyKey != "" {
		header = transport.Header{{"idempotency-key", spec.IdempotencyKey}}
	}
	var out sandbox
	err := c.versioned(ctx,
		func(ctx context.Context) error { return c.create(ctx, "/v2/sandboxes", body, header, &out) },
		func(ctx context.Context) error { return c.create(ctx, "/sandboxes", v1Body(body), header, &out) })
	if err != nil {
		return nil, err
	}
	if out.SandboxID == "" {
		return nil, fault.New(fault.CodeProtocol, "the peer broke the protocol: create answered no sandbox id")
	}
	return c.handle(&out), nil
}

// v1Body says what the older route would default otherwise.
func v1Body(b newSandbox) newSandbox {
	secure := true
	b.Secure = &secure
	if b.Timeout == nil {
		life := defaultLife
		b.Timeout = wholeSeconds(&life)
	}
	return b
}

func (c *control) create(ctx context.Context, path string, body newSandbox, header transport.Header, out *sandbox) error {
	_, err := c.rest(ctx, call{method: "POST", path: path, body: body, out: out, header: header, idempotent: len(header) > 0, area: createArea})
	return c.unmade(c.unknown(quota(err), body.TemplateID))
}

// unmade: when our own server cannot make a sandbox, it is this machine that
// refuses, and its answer says what. Trying again does not help.
func (c *control) unmade(err error) error {
	if e := fault.As(err); e != nil && e.Status == 500 && c.preset.EndlessLife {
		e.Code, e.Retryable, e.Docs = fault.CodeSandboxCreation, false, "docs/local-provider.md"
		return e.Suggest("sandboxc doctor says what this machine lacks")
	}
	return err
}

// quota says what a 429 of create may mean besides too many requests: there may
// be too many sandboxes. The code stays that of every 429.
func quota(err error) error {
	if e := fault.As(err); e != nil && e.Status == 429 && e.RetryAfter == 0 {
		return e.Suggest("wait, kill sandboxes that are not needed, or raise the plan's limit")
	}
	return err
}

// debugHandle is E2B's debug mode: no API, envd on localhost (e2b.md 2.4).
func (c *control) debugHandle() *handle.Handle {
	return &handle.Handle{
		Provider: c.preset.Name, SandboxID: "debug_sandbox_id", EnvdVersion: "99.99.99", Domain: "localhost", Isolation: "unknown",
		URLs: handle.URLs{Sandbox: c.settings.SandboxURL},
	}
}

func (c *control) Connect(ctx context.Context, id string, spec provider.ConnectSpec) (*handle.Handle, error) {
	if c.settings.Debug {
		return c.debugHandle(), nil
	}
	body := map[string]any{}
	if t := wholeSeconds(spec.Timeout); t != nil {
		body["timeout"] = *t
	}
	if spec.Reboot {
		body["memory"] = false
	}
	var out sandbox
	err := c.versioned(ctx,
		func(ctx context.Context) error {
			return c.post(ctx, "/v2/sandboxes/"+segment(id)+"/connect", body, &out)
		},
		func(ctx context.Context) error { return c.connectV1(ctx, id, body, &out) })
	if err != nil {
		return nil, err
	}
	return c.handle(&out), nil
}

func (c *control) post(ctx context.Context, path string, body, out any) error {
	_, err := c.rest(ctx, call{method: "POST", path: path, body: body, out: out, idempotent: true, area: sandboxArea})
	return err
}

// connectV1 never renews a life that nobody asked to renew: the older route
// needs a timeout, so a running sandbox is taken by GET alone.
func (c *control) connectV1(ctx context.Context, id string, body map[string]any, out *sandbox) error {
	if _, asked := body["timeout"]; !asked {
		var d detail
		if err := c.detail(ctx, id, &d); err != nil {
			return err
		}
		if d.State == "running" {
			*out = d.sandbox
			return nil
		}
		body["timeout"] = int64(defaultLife / time.Second)
	}
	return c.post(ctx, "/sandboxes/"+segment(id)+"/connect", body, out)
}

func (c *control) detail(ctx context.Context, id string, d *detail) error {
	_, err := c.rest(ctx, call{method: "GET", path: "/sandboxes/" + segment(id), out: d, idempotent: true, area: sandboxArea})
	return err
}

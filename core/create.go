package core

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/envd"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
	"github.com/agent-sandbox/agent-sandbox/core/uri"
)

// Mount shows a directory of the host inside a sandbox (local provider only).
type Mount = provider.Mount

// CreateOptions describe a sandbox to make. The zero value is a sandbox of
// template base with the provider's defaults.
type CreateOptions struct {
	Template            string            // "" = base
	Timeout             *time.Duration    // its life; nil = the provider's default (300 s); 0 = no end, local only
	Metadata            map[string]string // shown in lists, and a filter there
	Envs                map[string]string // for every command in it
	AllowInternetAccess *bool             // nil = the provider's default (on)
	Network             *Network
	OnTimeout           string // kill (default) or pause
	KeepMemory          *bool  // of a pause at the end of its life; nil = true
	AutoResume          *bool  // traffic wakes it; needs OnTimeout pause
	IdempotencyKey      string // the same key makes the same sandbox once
	CPUCount            float64
	MemoryMB            int
	DiskMB              int
	Mounts              []Mount
}

// DefaultTemplate is the template of a sandbox when none is named.
const DefaultTemplate = "base"

// Create makes a sandbox and returns when it can be used. A cancel while it is
// being made leaves none behind. Errors: E2001 unknown template, E2002 quota,
// E2000 other.
func (c *Client) Create(ctx context.Context, o CreateOptions) (*Sandbox, error) {
	if o.Template == "" {
		o.Template = DefaultTemplate
	}
	if err := c.checkCreate(o); err != nil {
		return nil, err
	}
	h, err := c.make(ctx, provider.CreateSpec(o))
	if err != nil {
		return nil, err
	}
	if err := answered(h); err != nil {
		if checkID(h.SandboxID) == nil {
			err = c.rollback(ctx, h.SandboxID, err)
		}
		return nil, err
	}
	if err := c.checkIsolation(h.Isolation); err != nil {
		return nil, c.rollback(ctx, h.SandboxID, err)
	}
	if h.Template == "" {
		h.Template = o.Template
	}
	return newSandbox(c, h), nil
}

func (c *Client) checkCreate(o CreateOptions) error {
	if err := c.need(createNeeds(o)...); err != nil {
		return err
	}
	if err := c.checkIsolation(c.control.Isolation()); err != nil {
		return err
	}
	if err := c.checkLife("timeout_ms", o.Timeout); err != nil {
		return err
	}
	if err := checkEnvs("envs", o.Envs); err != nil {
		return err
	}
	if strings.ContainsFunc(o.Template, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fault.InvalidArgument("%s %q has a space or control character", fault.Option("template"), shorten(o.Template))
	}
	if err := checkMetadata(o.Metadata); err != nil {
		return err
	}
	if len(o.IdempotencyKey) > 255 || strings.Trim(o.IdempotencyKey, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fault.InvalidArgument("%s must be 1 to 255 of a-z, 0-9 and -", fault.Option("idempotency_key"))
	}
	return checkLifecycle(o)
}

func createNeeds(o CreateOptions) []capability.Capability {
	needs := []capability.Capability{capability.Create}
	if o.Network != nil || o.AllowInternetAccess != nil {
		needs = append(needs, capability.Network)
	}
	if o.OnTimeout == "pause" {
		needs = append(needs, capability.Pause)
	}
	if o.AutoResume != nil && *o.AutoResume {
		needs = append(needs, capability.AutoResume)
	}
	return needs
}

func checkMetadata(m map[string]string) error {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if k == "" {
			return fault.InvalidArgument("%s has an empty key", fault.Option("metadata"))
		}
		if strings.ContainsRune(k, 0) || strings.ContainsRune(m[k], 0) {
			return fault.InvalidArgument("%s %q has a NUL byte", fault.Option("metadata"), shorten(k))
		}
	}
	return nil
}

// checkLifecycle copies the local errors of e2b.md 4.5.
func checkLifecycle(o CreateOptions) error {
	resumes := o.AutoResume != nil && *o.AutoResume
	switch {
	case o.OnTimeout != "" && o.OnTimeout != "kill" && o.OnTimeout != "pause":
		return fault.InvalidArgument("%s must be kill or pause, not %q", fault.Option("on_timeout"), shorten(o.OnTimeout))
	case o.KeepMemory != nil && o.OnTimeout != "pause":
		return fault.InvalidArgument("%s needs %s pause", fault.Option("keep_memory"), fault.Option("on_timeout"))
	case resumes && o.OnTimeout != "pause":
		return fault.InvalidArgument("%s needs %s pause", fault.Option("auto_resume"), fault.Option("on_timeout"))
	case resumes && o.KeepMemory != nil && !*o.KeepMemory:
		return fault.InvalidArgument("%s needs %s", fault.Option("auto_resume"), fault.Option("keep_memory"))
	}
	return nil
}

// Who sees a new sandbox first, the maker or a caller that left, decides who
// ends it.
const (
	making int32 = iota
	made
	abandoned
)

// make creates under a flight of its own: when the caller leaves, the request
// goes on until its id is known, and the sandbox is killed.
func (c *Client) make(ctx context.Context, spec provider.CreateSpec) (*handle.Handle, error) {
	var state atomic.Int32
	var h *handle.Handle
	_, err := c.host.Flight(ctx, "create|"+c.randomName(), func(flight context.Context) (any, error) {
		request, disarm := c.host.Detached(flight, 0)
		defer disarm()
		got, err := c.control.Create(request, spec)
		if err != nil {
			return nil, err
		}
		h = got
		if !state.CompareAndSwap(making, made) {
			return nil, c.rollback(flight, got.SandboxID, context.Cause(flight))
		}
		return nil, nil
	})
	if err == nil {
		return h, nil
	}
	if ctx.Err() == nil {
		return nil, err
	}
	if !state.CompareAndSwap(making, abandoned) {
		err = c.rollback(ctx, h.SandboxID, err)
	}
	return nil, cancelled(ctx, err)
}

func (c *Client) randomName() string {
	var b [12]byte
	c.host.Rand(b[:])
	return hex.EncodeToString(b[:])
}

// answered checks the id and the domain that a peer gave: they go into addresses
// and headers.
func answered(h *handle.Handle) error {
	if checkID(h.SandboxID) != nil {
		return fault.New(fault.CodeProtocol, "the peer broke the protocol: it gave a sandbox with the id %q", shorten(h.SandboxID))
	}
	if h.Domain != "" && !uri.IsDomain(h.Domain) {
		e := fault.New(fault.CodeProtocol, "the peer broke the protocol: it gave a sandbox with the domain %q, which is no host name", shorten(h.Domain))
		e.SandboxID = h.SandboxID
		return e
	}
	return nil
}

// rollback kills a half-made sandbox and gives the original error, with the id.
func (c *Client) rollback(ctx context.Context, id string, err error) error {
	cleanup, disarm := c.host.Detached(ctx, envd.Cleanup)
	defer disarm()
	_, killErr := c.control.Kill(cleanup, id)
	if e := fault.As(err); e != nil {
		e.SandboxID = id
		if killErr != nil {
			e.Message += "; and the sandbox " + id + " could not be killed"
		}
	}
	return err
}

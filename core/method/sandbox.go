package method

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
)

// OfSandbox is what methods share that need no more of a sandbox than its id.
type OfSandbox struct {
	SandboxID *string `json:"sandbox_id,omitempty"` // default: the sandbox of the call
}

func (o OfSandbox) sandboxID() *string { return o.SandboxID }

type sandboxParams interface{ sandboxID() *string }

// target is the client, and the id that was given, else that of the call's sandbox.
func (c *Call) target(params any) (*core.Client, string, error) {
	client, err := c.client()
	if err != nil {
		return nil, "", err
	}
	if of, ok := params.(sandboxParams); ok && of.sandboxID() != nil {
		return client, *of.sandboxID(), nil
	}
	s, err := c.sandbox()
	if err != nil {
		return nil, "", err
	}
	return client, s.ID(), nil
}

// SandboxCreate makes a sandbox and returns when it can be used. A cancel while
// it is being made leaves none behind. Errors: E2001 unknown template, E2002
// quota, E2000 other.
type SandboxCreate struct {
	Template            string            `json:"template,omitempty" arg:"1"`      // name or id; default: base
	TimeoutMS           *int64            `json:"timeout_ms,omitempty"`            // its life; default: the provider's (300 s); 0 = no end, local only
	Metadata            map[string]string `json:"metadata,omitempty"`              // shown in lists, and a filter there
	Envs                map[string]string `json:"envs,omitempty"`                  // for every command in it
	AllowInternetAccess *bool             `json:"allow_internet_access,omitempty"` // default: on
	Network             *core.Network     `json:"network,omitempty"`               // rules for what goes in and out
	OnTimeout           string            `json:"on_timeout,omitempty"`            // what the end of its life does: kill (default) or pause
	KeepMemory          *bool             `json:"keep_memory,omitempty"`           // of a pause at the end of its life; default: true
	AutoResume          *bool             `json:"auto_resume,omitempty"`           // traffic wakes it; needs on_timeout pause
	IdempotencyKey      string            `json:"idempotency_key,omitempty"`       // the same key makes the same sandbox once
	CPUCount            float64           `json:"cpu_count,omitempty"`             // default: the template's
	MemoryMB            int               `json:"memory_mb,omitempty"`             // default: the template's
	DiskMB              int               `json:"disk_mb,omitempty"`               // default: the template's
	Mounts              []Mount           `json:"mounts,omitempty"`                // directories of the host; local only
}

// Mount shows a directory of the host inside a sandbox.
type Mount struct {
	Source string `json:"source"`          // a directory of the host
	Target string `json:"target"`          // where it is shown inside
	Write  bool   `json:"write,omitempty"` // the sandbox may change it; default: read-only
}

func (p *SandboxCreate) options() core.CreateOptions {
	o := core.CreateOptions{
		Template: p.Template, Timeout: duration(p.TimeoutMS), Metadata: p.Metadata, Envs: p.Envs,
		AllowInternetAccess: p.AllowInternetAccess, Network: p.Network, OnTimeout: p.OnTimeout, KeepMemory: p.KeepMemory,
		AutoResume: p.AutoResume, IdempotencyKey: p.IdempotencyKey, CPUCount: p.CPUCount, MemoryMB: p.MemoryMB, DiskMB: p.DiskMB,
	}
	for _, m := range p.Mounts {
		o.Mounts = append(o.Mounts, core.Mount(m))
	}
	return o
}

// SandboxConnect takes a running sandbox as it is and resumes a paused one.
// Connecting never shortens a life. Errors: E2005 when there is no such sandbox.
type SandboxConnect struct {
	SandboxID string `json:"sandbox_id" arg:"1"`   // which one
	TimeoutMS *int64 `json:"timeout_ms,omitempty"` // its life from now, never shortened; default: left alone
	Reboot    bool   `json:"reboot,omitempty"`     // start a paused sandbox afresh instead of restoring memory
}

// SandboxResume is connect for a sandbox known to be paused.
type SandboxResume SandboxConnect

func (p *SandboxConnect) options() core.ConnectOptions {
	return core.ConnectOptions{Timeout: duration(p.TimeoutMS), Reboot: p.Reboot}
}

// SandboxOpen checks a handle, such as another process made, without any request.
type SandboxOpen struct {
	Handle json.RawMessage `json:"handle" arg:"1"` // as create gave it
}

// SandboxList gives one page of sandboxes, newest first.
type SandboxList struct {
	Metadata     map[string]string `json:"metadata,omitempty"`     // only those that have all of it
	State        []string          `json:"state,omitempty"`        // running, paused; default: both
	Template     string            `json:"template,omitempty"`     // only of this id or alias
	StartedAfter time.Time         `json:"started_after,omitzero"` // only those started after this time
	Ascending    bool              `json:"ascending,omitempty"`    // oldest first
	Limit        int               `json:"limit,omitempty"`        // of one page, 1 to 100; default: the provider's
	NextToken    string            `json:"next_token,omitempty"`   // of the page before
}

// SandboxPage is one page of a list.
type SandboxPage struct {
	Items     []core.Info `json:"items"`                // may be empty
	NextToken string      `json:"next_token,omitempty"` // absent on the last page
}

// SandboxKill ends a sandbox for good; false when there is none of that id.
type SandboxKill struct{ OfSandbox }

// SandboxGetInfo describes a sandbox, running or paused. Errors: E2005.
type SandboxGetInfo struct{ OfSandbox }

// SandboxSetTimeout makes a sandbox end (or pause) after a time from now; it may
// shorten. Errors: E2005.
type SandboxSetTimeout struct {
	TimeoutMS int64 `json:"timeout_ms" arg:"1"` // its life from now; 0 = no end, local only
	OfSandbox
}

// SandboxKeepAlive sees to it that a sandbox lives at least for a time from now;
// it never shortens. Errors: E2005.
type SandboxKeepAlive struct {
	TimeoutMS int64 `json:"timeout_ms" arg:"1"` // its life from now, more than 0
	OfSandbox
}

// SandboxPause freezes a sandbox; false when it was paused already. Errors: E2005.
type SandboxPause struct {
	KeepMemory *bool `json:"keep_memory,omitempty"` // default: true; false keeps files only
	OfSandbox
}

// SandboxGetMetrics gives samples of a sandbox's use. Errors: E2005.
type SandboxGetMetrics struct {
	Start time.Time `json:"start,omitzero"` // default: the beginning
	End   time.Time `json:"end,omitzero"`   // default: now
	OfSandbox
}

// SandboxUpdateNetwork replaces the network rules of a running sandbox; what is
// left out is cleared. Errors: E2005.
type SandboxUpdateNetwork struct {
	core.Network
	OfSandbox
}

// SandboxIsRunning asks the sandbox itself; false when it was killed, has ended or
// is paused without auto-resume.
type SandboxIsRunning struct{}

// SandboxGetHost is the host name under which a port of the sandbox is reached.
type SandboxGetHost struct {
	Port int `json:"port" arg:"1"` // 1 to 65535
}

// SandboxGetURL is the URL under which a port of the sandbox is reached: http for
// the local provider, https elsewhere.
type SandboxGetURL struct {
	Port int `json:"port" arg:"1"` // 1 to 65535
}

// SandboxDownloadURL is a URL with which anyone may read a file.
type SandboxDownloadURL struct {
	Path      string `json:"path" arg:"1"`         // of the file
	User      string `json:"user,omitempty"`       // whose rights and home; default: the sandbox's user
	ExpiresMS int64  `json:"expires_ms,omitempty"` // default: it never expires
}

// SandboxUploadURL is a URL to which anyone may POST a file.
type SandboxUploadURL struct {
	Path      string `json:"path,omitempty" arg:"1"` // where to; default: the file names of the form decide
	User      string `json:"user,omitempty"`         // whose rights and home; default: the sandbox's user
	ExpiresMS int64  `json:"expires_ms,omitempty"`   // default: it never expires
}

// SandboxDescribe is the sandbox as it prints: no secret is in it.
type SandboxDescribe struct{}

// SandboxCapabilities lists what the provider can do.
type SandboxCapabilities struct{}

func sandbox() []Method { return append(sandboxes(), sandboxItself()...) }

func sandboxes() []Method {
	return []Method{
		onClient("sandbox.create", Wrapped, func(ctx context.Context, c *core.Client, p *SandboxCreate) (*handle.Handle, error) {
			return opened(c.Create(ctx, p.options()))
		}),
		onClient("sandbox.connect", Wrapped, func(ctx context.Context, c *core.Client, p *SandboxConnect) (*handle.Handle, error) {
			return opened(c.Connect(ctx, p.SandboxID, p.options()))
		}),
		onClient("sandbox.resume", Wrapped, func(ctx context.Context, c *core.Client, p *SandboxResume) (*handle.Handle, error) {
			return opened(c.Resume(ctx, p.SandboxID, (*SandboxConnect)(p).options()))
		}),
		onClient("sandbox.open", Wrapped, func(_ context.Context, c *core.Client, p *SandboxOpen) (*handle.Handle, error) {
			h, err := handle.FromJSON(p.Handle)
			if err != nil {
				return nil, err
			}
			return opened(c.Open(h))
		}),
		onClient("sandbox.list", Wrapped, list),
		onClient("sandbox.capabilities", Inline, func(_ context.Context, c *core.Client, _ *SandboxCapabilities) (capability.Set, error) {
			return c.Capabilities(), nil
		}),
		onID("sandbox.kill", func(ctx context.Context, c *core.Client, id string, _ *SandboxKill) (bool, error) {
			return c.Kill(ctx, id)
		}),
		onID("sandbox.get_info", func(ctx context.Context, c *core.Client, id string, _ *SandboxGetInfo) (*core.Info, error) {
			return c.Info(ctx, id)
		}),
		onID("sandbox.set_timeout", func(ctx context.Context, c *core.Client, id string, p *SandboxSetTimeout) (none, error) {
			return nil, c.SetTimeout(ctx, id, *duration(&p.TimeoutMS))
		}),
		onID("sandbox.keep_alive", func(ctx context.Context, c *core.Client, id string, p *SandboxKeepAlive) (none, error) {
			return nil, c.KeepAlive(ctx, id, *duration(&p.TimeoutMS))
		}),
		onID("sandbox.pause", func(ctx context.Context, c *core.Client, id string, p *SandboxPause) (bool, error) {
			return c.Pause(ctx, id, core.PauseOptions{DropMemory: p.KeepMemory != nil && !*p.KeepMemory})
		}),
		onID("sandbox.get_metrics", func(ctx context.Context, c *core.Client, id string, p *SandboxGetMetrics) ([]core.Metric, error) {
			return orNone(c.Metrics(ctx, id, p.Start, p.End))
		}),
		onID("sandbox.update_network", func(ctx context.Context, c *core.Client, id string, p *SandboxUpdateNetwork) (none, error) {
			return nil, c.UpdateNetwork(ctx, id, p.Network)
		}),
	}
}

func sandboxItself() []Method {
	return []Method{
		onSandbox("sandbox.is_running", func(ctx context.Context, s *core.Sandbox, _ *SandboxIsRunning) (bool, error) {
			return s.IsRunning(ctx)
		}),
		inline("sandbox.get_host", func(s *core.Sandbox, p *SandboxGetHost) (string, error) {
			return s.Host(p.Port)
		}),
		inline("sandbox.get_url", func(s *core.Sandbox, p *SandboxGetURL) (string, error) {
			return s.URL(p.Port)
		}),
		inline("sandbox.download_url", func(s *core.Sandbox, p *SandboxDownloadURL) (string, error) {
			return s.DownloadURL(p.Path, core.URLOptions{User: p.User, Expires: *duration(&p.ExpiresMS)})
		}),
		inline("sandbox.upload_url", func(s *core.Sandbox, p *SandboxUploadURL) (string, error) {
			return s.UploadURL(p.Path, core.URLOptions{User: p.User, Expires: *duration(&p.ExpiresMS)})
		}),
		inline("sandbox.describe", func(s *core.Sandbox, _ *SandboxDescribe) (string, error) {
			return s.String(), nil
		}),
	}
}

func opened(s *core.Sandbox, err error) (*handle.Handle, error) {
	if err != nil {
		return nil, err
	}
	h := s.Handle()
	return &h, nil
}

func list(ctx context.Context, c *core.Client, p *SandboxList) (*SandboxPage, error) {
	pages, err := c.List(core.ListOptions{
		Metadata: p.Metadata, State: p.State, Template: p.Template, StartedAfter: p.StartedAfter,
		Ascending: p.Ascending, Limit: p.Limit, NextToken: p.NextToken,
	})
	if err != nil {
		return nil, err
	}
	items, err := orNone(pages.NextItems(ctx))
	if err != nil {
		return nil, err
	}
	return &SandboxPage{Items: items, NextToken: pages.NextToken()}, nil
}

// orNone makes an empty list of nil, so that it is one in every language.
func orNone[T any](list []T, err error) ([]T, error) {
	if list == nil {
		list = []T{}
	}
	return list, err
}

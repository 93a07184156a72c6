// Package provider says what a backend must offer: a control plane that makes
// and manages sandboxes, times a data plane that works inside one, and the list
// of what it can do.
package provider

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Provider is one backend.
type Provider interface {
	Name() string
	Capabilities() capability.Set
	// Open binds the backend to a host and settings; it makes no request.
	// Errors: E1001 without a key, E8000 for unusable settings.
	Open(Config) (Control, error)
}

// Config binds a provider.
type Config struct {
	Host      transport.Host
	Settings  *setting.Settings
	UserAgent string
}

// Control is a control plane.
type Control interface {
	// Isolation is what a sandbox here is known to get before it exists:
	// vm, gvisor, namespaces or unknown.
	Isolation() string
	// EndlessLife tells whether a lifetime of 0 means none here.
	EndlessLife() bool

	Create(ctx context.Context, spec CreateSpec) (*handle.Handle, error)
	// Connect resumes a paused sandbox and takes a running one as it is.
	Connect(ctx context.Context, id string, spec ConnectSpec) (*handle.Handle, error)
	List(ctx context.Context, spec ListSpec) (*Page, error)
	// Kill answers false when there is no such sandbox.
	Kill(ctx context.Context, id string) (bool, error)
	Info(ctx context.Context, id string) (*Info, error)
	SetTimeout(ctx context.Context, id string, life time.Duration) error
	// Extend never shortens a life.
	Extend(ctx context.Context, id string, life time.Duration) error
	// Pause answers false when the sandbox is paused already.
	Pause(ctx context.Context, id string, memory bool) (bool, error)
	Metrics(ctx context.Context, id string, start, end time.Time) ([]Metric, error)
	UpdateNetwork(ctx context.Context, id string, n Network) error

	// Data is the data plane of one sandbox, bound to h.
	Data(h *handle.Handle) plane.Data
	// Interpreter runs code in one sandbox; nil where the backend cannot.
	Interpreter(h *handle.Handle) plane.Interpreter
	// HostOf is the host name under which a port is reached, URLOf its URL.
	HostOf(h *handle.Handle, port int) string
	URLOf(h *handle.Handle, port int) string
}

// CreateSpec describes a sandbox to make. Zero values are left to the backend.
type CreateSpec struct {
	Template            string
	Timeout             *time.Duration // nil = the backend's default; 0 = endless
	Metadata            map[string]string
	Envs                map[string]string
	AllowInternetAccess *bool
	Network             *Network
	OnTimeout           string // "", kill, pause
	KeepMemory          *bool
	AutoResume          *bool
	IdempotencyKey      string
	CPUCount            float64
	MemoryMB            int
	DiskMB              int
	Mounts              []Mount // of host directories; local only
}

// Mount shows a directory of the host inside a sandbox.
type Mount struct {
	Source string
	Target string
	Write  bool
}

// Network is E2B's network configuration (e2b.md 1.2).
type Network struct {
	AllowOut            []string              `json:"allow_out,omitempty"`             // domains and CIDRs that may be reached
	DenyOut             []string              `json:"deny_out,omitempty"`              // CIDRs that may not
	Rules               map[string][]HostRule `json:"rules,omitempty"`                 // by host: what is changed in requests to it
	EgressProxy         *EgressProxy          `json:"egress_proxy,omitempty"`          // what goes out goes through it
	AllowPublicTraffic  *bool                 `json:"allow_public_traffic,omitempty"`  // ports are reached without a token; default: true
	MaskRequestHost     string                `json:"mask_request_host,omitempty"`     // the Host header that the sandbox's own servers see
	HTTPSPorts          []int                 `json:"https_ports,omitempty"`           // ports whose servers speak TLS themselves
	AllowInternetAccess *bool                 `json:"allow_internet_access,omitempty"` // updates only
}

// HostRule changes requests to one host.
type HostRule struct {
	Transform *Transform `json:"transform,omitempty"` // what is changed
}

// Transform sets headers.
type Transform struct {
	Headers map[string]string `json:"headers,omitempty"` // by name
}

// EgressProxy is a SOCKS5 proxy for what leaves a sandbox.
type EgressProxy struct {
	Address  string `json:"address"`            // host:port
	Username string `json:"username,omitempty"` // absent = none asked for
	Password string `json:"password,omitempty"` // a secret
}

// String keeps the password out of prints.
func (p EgressProxy) String() string { return "EgressProxy(" + p.Address + ")" }

// GoString keeps the password out of %#v.
func (p EgressProxy) GoString() string { return p.String() }

// ConnectSpec says how to take a sandbox.
type ConnectSpec struct {
	Timeout *time.Duration // nil = leave its life alone
	Reboot  bool           // do not restore memory
}

// ListSpec filters and pages.
type ListSpec struct {
	Metadata     map[string]string
	State        []string // running, paused; nil = both
	Template     string
	StartedAfter time.Time
	Ascending    bool
	Limit        int    // 0 = the backend's default
	NextToken    string // of the page before
}

// Page is one page of a list. NextToken is "" on the last.
type Page struct {
	Sandboxes []Info
	NextToken string
}

// Info describes a sandbox as the control plane knows it.
type Info struct {
	SandboxID           string            `json:"sandbox_id"`                      // its id
	TemplateID          string            `json:"template_id"`                     // the template that it was made from
	Name                string            `json:"name,omitempty"`                  // the template's alias
	State               string            `json:"state"`                           // running, paused
	StartedAt           time.Time         `json:"started_at"`                      // UTC
	EndAt               time.Time         `json:"end_at,omitzero"`                 // UTC; absent = endless
	CPUCount            float64           `json:"cpu_count"`                       // cores
	MemoryMB            int               `json:"memory_mb"`                       // MiB
	DiskSizeMB          int               `json:"disk_size_mb"`                    // MiB
	EnvdVersion         string            `json:"envd_version"`                    // of the daemon inside
	Metadata            map[string]string `json:"metadata"`                        // as given at its creation
	AllowInternetAccess *bool             `json:"allow_internet_access,omitempty"` // absent = the default (on)
	Network             *Network          `json:"network,omitempty"`               // its rules; absent = none
	OnTimeout           string            `json:"on_timeout,omitempty"`            // what the end of its life does: kill or pause
	AutoResume          bool              `json:"auto_resume,omitempty"`           // traffic wakes it
	Domain              string            `json:"domain,omitempty"`                // under which its ports are reached
	Isolation           string            `json:"isolation,omitempty"`             // what separates it from its host: namespaces, gvisor, vm or unknown
	Limits              []Limit           `json:"limits,omitempty"`                // as far as the backend states them
}

// Limit is one resource limit as the backend states it.
type Limit struct {
	Name     string `json:"name"`          // memory, disk, pids, cpu
	Value    string `json:"value"`         // in words
	Enforced bool   `json:"enforced"`      // false: it is only wished for
	Why      string `json:"why,omitempty"` // why it is not enforced
}

// Metric is one sample of a sandbox's use.
type Metric struct {
	Timestamp  time.Time `json:"timestamp"`    // UTC
	CPUCount   float64   `json:"cpu_count"`    // cores
	CPUUsedPct float64   `json:"cpu_used_pct"` // percent
	MemUsed    int64     `json:"mem_used"`     // bytes, as all below
	MemTotal   int64     `json:"mem_total"`    // its limit
	MemCache   int64     `json:"mem_cache"`    // of the page cache, part of mem_used
	DiskUsed   int64     `json:"disk_used"`    // what its files take
	DiskTotal  int64     `json:"disk_total"`   // its limit
}

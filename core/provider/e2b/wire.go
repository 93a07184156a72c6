package e2b

import (
	"math"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
)

// The JSON of e2b.md 1.2. A pointer or omitempty keeps "unset" off the wire.

type newSandbox struct {
	TemplateID          string            `json:"templateID"`
	Timeout             *int64            `json:"timeout,omitempty"`
	Metadata            map[string]string `json:"metadata,omitempty"`
	EnvVars             map[string]string `json:"envVars,omitempty"`
	AllowInternetAccess *bool             `json:"allow_internet_access,omitempty"`
	Network             *network          `json:"network,omitempty"`
	AutoPause           *bool             `json:"autoPause,omitempty"`
	AutoPauseMemory     *bool             `json:"autoPauseMemory,omitempty"`
	AutoResume          *autoResume       `json:"autoResume,omitempty"`
	Secure              *bool             `json:"secure,omitempty"` // v1 only

	// Ours, understood by the local provider.
	CPUCount   float64     `json:"cpuCount,omitempty"`
	MemoryMB   int         `json:"memoryMB,omitempty"`
	DiskSizeMB int         `json:"diskSizeMB,omitempty"`
	HostMounts []hostMount `json:"hostMounts,omitempty"`
}

// network is provider.Network as the wire spells it.
type network struct {
	AllowOut            []string                       `json:"allowOut,omitempty"`
	DenyOut             []string                       `json:"denyOut,omitempty"`
	Rules               map[string][]provider.HostRule `json:"rules,omitempty"`
	EgressProxy         *provider.EgressProxy          `json:"egressProxy,omitempty"`
	AllowPublicTraffic  *bool                          `json:"allowPublicTraffic,omitempty"`
	MaskRequestHost     string                         `json:"maskRequestHost,omitempty"`
	HTTPSPorts          []int                          `json:"httpsPorts,omitempty"`
	AllowInternetAccess *bool                          `json:"allow_internet_access,omitempty"`
}

type autoResume struct {
	Enabled bool `json:"enabled"`
}

type hostMount struct {
	Source string `json:"source"`
	Target string `json:"target"`
	Write  bool   `json:"write"`
}

func newSandboxOf(s provider.CreateSpec) newSandbox {
	n := newSandbox{
		TemplateID: s.Template, Timeout: wholeSeconds(s.Timeout), Metadata: s.Metadata, EnvVars: s.Envs,
		AllowInternetAccess: s.AllowInternetAccess, Network: (*network)(s.Network), AutoPauseMemory: s.KeepMemory,
		CPUCount: s.CPUCount, MemoryMB: s.MemoryMB, DiskSizeMB: s.DiskMB,
	}
	if s.OnTimeout != "" {
		pause := s.OnTimeout == "pause"
		n.AutoPause = &pause
	}
	if s.AutoResume != nil {
		n.AutoResume = &autoResume{*s.AutoResume}
	}
	for _, m := range s.Mounts {
		n.HostMounts = append(n.HostMounts, hostMount(m))
	}
	return n
}

// wholeSeconds rounds up: 1.5 s is 2 on the wire (e2b.md 1.2), and a tiny
// timeout is never 0.
func wholeSeconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	n := int64(math.Ceil(d.Seconds()))
	return &n
}

type sandbox struct {
	SandboxID          string  `json:"sandboxID"`
	TemplateID         string  `json:"templateID"`
	EnvdVersion        string  `json:"envdVersion"`
	EnvdAccessToken    *string `json:"envdAccessToken"`
	TrafficAccessToken *string `json:"trafficAccessToken"`
	Domain             *string `json:"domain"`
	Isolation          string  `json:"isolation"`
}

func (c *control) handle(s *sandbox) *handle.Handle {
	h := &handle.Handle{
		Provider: c.preset.Name, SandboxID: s.SandboxID, Template: s.TemplateID, EnvdVersion: s.EnvdVersion,
		Domain: deref(s.Domain), Isolation: s.Isolation,
		Tokens: handle.Tokens{Envd: deref(s.EnvdAccessToken), Traffic: deref(s.TrafficAccessToken)},
		URLs:   handle.URLs{API: c.settings.APIURL, Sandbox: c.settings.SandboxURL},
	}
	if h.Domain == "" {
		h.Domain = c.domain
	}
	if h.Isolation == "" {
		h.Isolation = c.Isolation()
	}
	return h
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type detail struct {
	sandbox
	Alias               string            `json:"alias"`
	State               string            `json:"state"`
	StartedAt           time.Time         `json:"startedAt"`
	EndAt               time.Time         `json:"endAt"`
	CPUCount            float64           `json:"cpuCount"`
	MemoryMB            int               `json:"memoryMB"`
	DiskSizeMB          int               `json:"diskSizeMB"`
	Metadata            map[string]string `json:"metadata"`
	AllowInternetAccess *bool             `json:"allowInternetAccess"`
	Network             *network          `json:"network"`
	Lifecycle           struct {
		OnTimeout  string `json:"onTimeout"`
		AutoResume bool   `json:"autoResume"`
	} `json:"lifecycle"`
	Limits []provider.Limit `json:"limits"`
}

func (d *detail) info(isolation string) provider.Info {
	i := provider.Info{
		SandboxID: d.SandboxID, TemplateID: d.TemplateID, Name: d.Alias, State: d.State, StartedAt: d.StartedAt.UTC(), EndAt: d.EndAt.UTC(),
		CPUCount: d.CPUCount, MemoryMB: d.MemoryMB, DiskSizeMB: d.DiskSizeMB, EnvdVersion: d.EnvdVersion, Metadata: d.Metadata,
		AllowInternetAccess: d.AllowInternetAccess, Network: (*provider.Network)(d.Network), OnTimeout: d.Lifecycle.OnTimeout, AutoResume: d.Lifecycle.AutoResume,
		Domain: deref(d.Domain), Isolation: d.Isolation, Limits: d.Limits,
	}
	if i.EndAt.Year() >= endlessYear {
		i.EndAt = time.Time{}
	}
	if i.Isolation == "" {
		i.Isolation = isolation
	}
	if i.Metadata == nil {
		i.Metadata = map[string]string{}
	}
	return i
}

// endlessYear is how our server writes a life without an end, since foreign
// clients need a date.
const endlessYear = 9999

type metric struct {
	TimestampUnix int64     `json:"timestampUnix"`
	Timestamp     time.Time `json:"timestamp"`
	CPUCount      float64   `json:"cpuCount"`
	CPUUsedPct    float64   `json:"cpuUsedPct"`
	MemUsed       int64     `json:"memUsed"`
	MemTotal      int64     `json:"memTotal"`
	MemCache      int64     `json:"memCache"`
	DiskUsed      int64     `json:"diskUsed"`
	DiskTotal     int64     `json:"diskTotal"`
}

func (m metric) metric() provider.Metric {
	at := m.Timestamp
	if m.TimestampUnix != 0 {
		at = time.Unix(m.TimestampUnix, 0)
	}
	return provider.Metric{
		Timestamp: at.UTC(), CPUCount: m.CPUCount, CPUUsedPct: m.CPUUsedPct, MemUsed: m.MemUsed, MemTotal: m.MemTotal,
		MemCache: m.MemCache, DiskUsed: m.DiskUsed, DiskTotal: m.DiskTotal,
	}
}

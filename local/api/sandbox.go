package api

import "time"

// EnvdVersion is the version of E2B's daemon whose behaviour the sandboxes
// show; clients turn features on and off by it (e2b.md 3.6).
const EnvdVersion = "0.6.13"

// ClientID fills a deprecated field that E2B's clients still require.
const ClientID = "local"

// Isolation is what this server states about its sandboxes.
const Isolation = "namespaces"

// States of a sandbox on the wire.
const (
	StateRunning = "running"
	StatePaused  = "paused"
)

// Sandbox is the answer to create, connect and resume.
type Sandbox struct {
	SandboxID          string  `json:"sandboxID"`
	TemplateID         string  `json:"templateID"`
	ClientID           string  `json:"clientID"`
	Alias              string  `json:"alias,omitempty"`
	EnvdVersion        string  `json:"envdVersion"`
	EnvdAccessToken    string  `json:"envdAccessToken,omitempty"`
	TrafficAccessToken string  `json:"trafficAccessToken,omitempty"`
	Domain             string  `json:"domain"`
	Isolation          string  `json:"isolation"`
	Limits             []Limit `json:"limits"`
}

// Limit says what is limited and whether that holds.
type Limit struct {
	// Name is memory, cpu, pids or disk.
	Name string `json:"name"`
	// Value is the limit: bytes, microseconds of CPU time in each 100 ms, or a
	// count of processes.
	Value string `json:"value"`
	// Enforced is false when nothing on this machine enforces it.
	Enforced bool `json:"enforced"`
	// Why explains it when it is not enforced; "" otherwise.
	Why string `json:"why,omitempty"`
}

// ListedSandbox is one row of a list.
type ListedSandbox struct {
	SandboxID    string            `json:"sandboxID"`
	TemplateID   string            `json:"templateID"`
	ClientID     string            `json:"clientID"`
	Alias        string            `json:"alias,omitempty"`
	StartedAt    time.Time         `json:"startedAt"`
	EndAt        time.Time         `json:"endAt"`
	State        string            `json:"state"`
	CPUCount     int               `json:"cpuCount"`
	MemoryMB     int               `json:"memoryMB"`
	DiskSizeMB   int               `json:"diskSizeMB"`
	EnvdVersion  string            `json:"envdVersion"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	VolumeMounts []VolumeMount     `json:"volumeMounts"`
	Isolation    string            `json:"isolation"`
}

// SandboxDetail is the answer to GET /sandboxes/{id}.
type SandboxDetail struct {
	ListedSandbox
	EnvdAccessToken     string    `json:"envdAccessToken,omitempty"`
	Domain              string    `json:"domain"`
	AllowInternetAccess *bool     `json:"allowInternetAccess"`
	Network             *Network  `json:"network,omitempty"`
	Lifecycle           Lifecycle `json:"lifecycle"`
	Limits              []Limit   `json:"limits"`
}

// Lifecycle says what the end of the lifetime does.
type Lifecycle struct {
	// OnTimeout is kill or pause.
	OnTimeout  string `json:"onTimeout"`
	AutoResume bool   `json:"autoResume"`
}

// Metric is one measurement of a sandbox.
type Metric struct {
	Timestamp     time.Time `json:"timestamp"`
	TimestampUnix int64     `json:"timestampUnix"`
	CPUCount      int       `json:"cpuCount"`
	// CPUUsedPct is in percent of one core.
	CPUUsedPct float64 `json:"cpuUsedPct"`
	// The rest is in bytes.
	MemUsed   int64 `json:"memUsed"`
	MemTotal  int64 `json:"memTotal"`
	MemCache  int64 `json:"memCache"`
	DiskUsed  int64 `json:"diskUsed"`
	DiskTotal int64 `json:"diskTotal"`
}

// LogEntry is one line of a sandbox's journal.
type LogEntry struct {
	Timestamp time.Time         `json:"timestamp"`
	Message   string            `json:"message"`
	Level     string            `json:"level"`
	Fields    map[string]string `json:"fields"`
}

// Never is what endAt says of a sandbox without a lifetime: the field is
// required, and clients parse it.
func Never() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

package api

// NewSandbox is the body of POST /v2/sandboxes and of its deprecated elder
// POST /sandboxes (e2b.md 1.2). A nil pointer is an absent field.
type NewSandbox struct {
	TemplateID          string            `json:"templateID"`
	Timeout             *int64            `json:"timeout"`
	Metadata            map[string]string `json:"metadata"`
	EnvVars             map[string]string `json:"envVars"`
	AllowInternetAccess *bool             `json:"allow_internet_access"`
	Network             *Network          `json:"network"`
	AutoPause           *bool             `json:"autoPause"`
	AutoPauseMemory     *bool             `json:"autoPauseMemory"`
	AutoResume          *AutoResume       `json:"autoResume"`
	VolumeMounts        []VolumeMount     `json:"volumeMounts"`
	IAM                 *IAM              `json:"iam"`
	// Secure is of the old route only: false makes a sandbox whose envd asks
	// for no token. Absent is true here.
	Secure *bool `json:"secure"`

	// What follows is ours, not E2B's.

	// HostMounts binds directories or files of the host into the sandbox.
	HostMounts []HostMount `json:"hostMounts"`
	// CPUCount is in cores and may be a fraction.
	CPUCount *float64 `json:"cpuCount"`
	// MemoryMB and DiskSizeMB are in MiB.
	MemoryMB   *int64 `json:"memoryMB"`
	DiskSizeMB *int64 `json:"diskSizeMB"`
}

// AutoResume says whether traffic wakes a paused sandbox.
type AutoResume struct {
	Enabled bool `json:"enabled"`
}

// VolumeMount names a volume of E2B's service. The local provider has none.
type VolumeMount struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// IAM asks for workload identity tokens. The local provider mints none.
type IAM struct {
	Tokens map[string]any `json:"tokens"`
}

// HostMount binds Source of the host at Target in the sandbox, read-only
// unless Write.
type HostMount struct {
	Source string `json:"source"`
	Target string `json:"target"`
	Write  bool   `json:"write"`
}

// Pauses reports whether the end of the lifetime pauses instead of kills.
func (n *NewSandbox) Pauses() bool { return n.AutoPause != nil && *n.AutoPause }

// Resumes reports whether traffic wakes the sandbox.
func (n *NewSandbox) Resumes() bool { return n.AutoResume != nil && n.AutoResume.Enabled }

// PublicTraffic reports whether its ports need no traffic token.
func (n *NewSandbox) PublicTraffic() bool {
	return n.Network == nil || n.Network.AllowPublicTraffic == nil || *n.Network.AllowPublicTraffic
}

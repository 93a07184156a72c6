package api

import (
	"strings"
	"time"
)

// Template is one row of GET /templates.
type Template struct {
	TemplateID    string     `json:"templateID"`
	BuildID       string     `json:"buildID"`
	CPUCount      int        `json:"cpuCount"`
	MemoryMB      int        `json:"memoryMB"`
	DiskSizeMB    int        `json:"diskSizeMB"`
	Public        bool       `json:"public"`
	Aliases       []string   `json:"aliases"`
	Names         []string   `json:"names"`
	Description   string     `json:"description,omitempty"`
	CreatedAt     time.Time  `json:"createdAt"`
	UpdatedAt     time.Time  `json:"updatedAt"`
	CreatedBy     *struct{}  `json:"createdBy"`
	LastSpawnedAt *time.Time `json:"lastSpawnedAt"`
	SpawnCount    int        `json:"spawnCount"`
	BuildCount    int        `json:"buildCount"`
	EnvdVersion   string     `json:"envdVersion"`
	BuildStatus   string     `json:"buildStatus"`
	IsDefault     bool       `json:"isDefault"`
}

// TemplateAlias is the answer to GET /templates/aliases/{alias}.
type TemplateAlias struct {
	TemplateID string `json:"templateID"`
	Public     bool   `json:"public"`
}

// TemplateName brings a reference to a template into the form in which names
// are compared: trimmed, lower-cased, the default tag cut off (e2b.md 1.3).
func TemplateName(ref string) string {
	name := strings.ToLower(strings.TrimSpace(ref))
	return strings.TrimSuffix(name, ":default")
}

package command

import (
	"runtime"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/build"
)

// Version is `sandboxc version`.
type Version struct{}

// Run prints it.
func (*Version) Run(a *App) error {
	return a.Line(map[string]string{
		"version": build.Version(), "build": build.ID(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
	}, "sandboxc %s (%s, %s/%s)", build.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

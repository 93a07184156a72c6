//go:build !linux

package command

import "github.com/agent-sandbox/agent-sandbox/core/fault"

func templatesNeedLinux() error {
	return fault.InvalidArgument("templates are built for the local provider, which needs Linux")
}

// Run is not possible here.
func (*TemplateBuild) Run(*App) error { return templatesNeedLinux() }

// Run is not possible here.
func (*TemplateList) Run(*App) error { return templatesNeedLinux() }

// Run is not possible here.
func (*TemplateRemove) Run(*App) error { return templatesNeedLinux() }

//go:build !linux

package command

import (
	"context"
	"runtime"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

func examine(context.Context) ([]finding, error) {
	return []finding{{
		Name: "local provider", State: stateMissing, Detail: "it needs Linux; this is " + runtime.GOOS,
		Fix: "set E2B_API_KEY for a cloud, or E2B_API_URL and E2B_API_KEY to a Linux machine's server",
	}}, nil
}

func fixAppArmor(*App) error {
	return fault.InvalidArgument("--fix is for AppArmor, which only Linux has")
}

//go:build linux

package isolation

import (
	"slices"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/syscalls"
)

// filterFor is the seccomp program of one sandbox.
func (e *Engine) filterFor(spec Spec) ([]byte, error) {
	if !slices.ContainsFunc(spec.Mounts, func(m Mount) bool { return m.Write }) {
		return e.filter, nil
	}
	profile, err := syscalls.Default()
	if err != nil {
		return nil, err
	}
	return profile.WithoutSetID().Program()
}

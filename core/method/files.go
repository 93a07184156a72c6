package method

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core"
)

// FilesGetInfo describes a file or directory. Errors: E4001 when it is missing.
type FilesGetInfo struct {
	Path string `json:"path" arg:"1"`   // relative ones are under the user's home
	User string `json:"user,omitempty"` // whose rights and home; default: the sandbox's user
}

func files() []Method {
	return []Method{
		onSandbox("files.get_info", func(ctx context.Context, s *core.Sandbox, p *FilesGetInfo) (*core.Entry, error) {
			return s.Files.Stat(ctx, p.Path, core.FileOptions{User: p.User})
		}),
	}
}

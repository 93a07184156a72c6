//go:build linux

package guest

import (
	"net/http"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
)

// envd is the service of a sandbox: the envd-compatible daemon.
func envd(in Inside) (http.Handler, error) {
	d := daemon.New(daemon.Options{
		SandboxID:  in.Config.SandboxID,
		TemplateID: in.Config.TemplateID,
		Token:      in.Config.Token,
		Envs:       in.Env,
		Users:      in.Users,
		Launcher:   in.Launcher,
		Usage:      (&meter{cfg: in.Config}).usage,
	})
	return d.Handler(), nil
}

//go:build linux

package guest

import (
	"context"
	"net/http"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/interpreter"
)

// kernelDir is where the sockets of Jupyter kernels go, each in a directory
// that only its kernel's account may enter.
const kernelDir = runDir + "/kernels"

// services are what a sandbox answers with: the envd-compatible daemon, and on
// its port the code interpreter, which is made when it is first wanted.
type services struct {
	http.Handler
	daemon      *daemon.Daemon
	interpreter func() *interpreter.Service
}

// envd makes the services of a sandbox.
func envd(in Inside) (http.Handler, error) {
	d := daemon.New(daemon.Options{
		SandboxID:  in.Config.SandboxID,
		TemplateID: in.Config.TemplateID,
		Token:      in.Config.Token,
		Envs:       in.Env,
		Users:      in.Users,
		Launcher:   in.Launcher,
		Usage:      (&meter{cfg: in.Config}).usage,
		OOMKills:   in.OOMKills,
	})
	return &services{Handler: d.Handler(), daemon: d, interpreter: sync.OnceValue(func() *interpreter.Service {
		return interpreter.New(interpreter.Options{
			Launcher: in.Launcher, Users: in.Users, Env: d.Environment, Token: d.Token, Dir: kernelDir,
			ProcessMemory: in.Config.DataBytes, OOMKills: in.OOMKills,
		})
	})}, nil
}

// Port implements Ports.
func (s *services) Port(port int) http.Handler {
	if port != interpreter.Port {
		return nil
	}
	return s.interpreter().Handler()
}

// Warm implements Warmer.
func (s *services) Warm(ctx context.Context) error { return s.interpreter().Warm(ctx) }

// Claim implements Warmer.
func (s *services) Claim(_ context.Context, env map[string]string) error {
	s.daemon.SetEnvironment(env)
	return s.interpreter().Claim()
}

package hosting

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/build"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Live gives the server of this build that runs, or E5001.
func Live(ctx context.Context, getenv func(string) string) (*native.ServerInfo, error) {
	return native.FindServer(ctx, native.FindOptions{Getenv: getenv, Build: build.ID(), NoStart: true})
}

// Find gives the server of this build that runs, or starts one that ends by
// itself.
func Find(ctx context.Context, getenv func(string) string) (*native.ServerInfo, error) {
	info, _, err := Detach(ctx, Launch{Getenv: getenv, EndAfter: IdleEnd, Internet: true, Registries: true})
	return info, err
}

// Launch says how to start a server in the background.
type Launch struct {
	Getenv       func(string) string
	Port         int
	Internet     bool
	Registries   bool
	AllowOrigins []string
	Pages        string
	// InterpreterPool is that of Options.
	InterpreterPool *int
	EndAfter        time.Duration
}

// startClock bounds how long a server may take until it answers.
const startClock = 20 * time.Second

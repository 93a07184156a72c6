// Package hosting runs the local server: inside this program, as a program of
// its own, or by finding the one that runs already.
package hosting

import (
	"log/slog"
	"time"
)

// Options configure a server. The zero value listens on a free port, with
// neither internet nor registries.
type Options struct {
	// Getenv reads the environment.
	Getenv func(string) string
	// Port to listen on; 0 = the port of the last server when it is free, so that
	// what a shell has exported stays true, else any free one.
	Port int
	// Internet, Registries and AllowOrigins are those of local.Options.
	Internet     bool
	Registries   bool
	AllowOrigins []string
	// Pages is the directory of web pages to serve; "" = none.
	Pages string
	// Pool is how many sandboxes are prepared in advance; 0 = the default,
	// negative = none.
	Pool int
	// InterpreterPool is how many sandboxes with a warm interpreter are kept ready,
	// from the start; nil = what PoolVariable says, else the default once one was
	// used.
	InterpreterPool *int
	// EndAfter ends the server when nobody has used it for so long; 0 = never.
	EndAfter time.Duration
	// Log gets what happens; nil is silent.
	Log *slog.Logger
}

// IdleEnd is how long a server that was started automatically outlives its last
// sandbox and client.
const IdleEnd = 10 * time.Minute

// Command sandboxc runs code in sandboxes: on this machine, or at any provider
// that speaks E2B's API.
package main

import (
	"os"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/command"
)

func main() {
	if handled, code := inside(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(command.Main(os.Args[1:]))
}

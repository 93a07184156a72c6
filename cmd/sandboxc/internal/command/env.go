package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/hosting"
)

// Env is `sandboxc env`.
type Env struct{}

// Run prints exports for eval; it starts the server when none runs.
func (*Env) Run(a *App) error {
	info, err := hosting.Find(a.ctx, os.Getenv)
	if err != nil {
		return err
	}
	names := []string{"E2B_API_URL", "E2B_SANDBOX_URL", "E2B_API_KEY"}
	values := map[string]string{names[0]: info.URL, names[1]: info.SandboxURL, names[2]: info.APIKey}
	return a.Value(values, func(w io.Writer) error {
		for _, name := range names {
			if _, err := fmt.Fprintf(w, "export %s=%s\n", name, quote(values[name])); err != nil {
				return err
			}
		}
		return nil
	})
}

// quote makes one word of s for any POSIX shell.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

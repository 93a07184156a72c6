package command

import (
	"fmt"
	"io"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
)

// Doctor is `sandboxc doctor`.
type Doctor struct {
	Fix bool `help:"Write the AppArmor profile that lets this program make namespaces; asks for sudo."`
}

// finding is one thing that was looked at.
type finding struct {
	Name   string `json:"name"`
	State  string `json:"state"` // present, degraded, missing
	Detail string `json:"detail,omitempty"`
	Fix    string `json:"fix,omitempty"`
}

const stateMissing = "missing"

// Run looks at the machine. Something missing is exit code 1.
func (d *Doctor) Run(a *App) error {
	if d.Fix {
		if err := fixAppArmor(a); err != nil {
			return err
		}
	}
	findings, err := examine(a.ctx)
	if err != nil {
		return err
	}
	err = a.Value(map[string][]finding{"needs": findings}, func(w io.Writer) error {
		for _, f := range findings {
			if _, err := fmt.Fprintf(w, "%-9s %s: %s\n", f.State, output.Clean(f.Name), output.Clean(f.Detail)); err != nil {
				return err
			}
			if f.Fix != "" && f.State != "present" {
				if _, err := fmt.Fprintf(w, "%9s -> %s\n", "", output.Clean(f.Fix)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.State == stateMissing {
			return output.Status(output.ExitGeneral)
		}
	}
	return nil
}

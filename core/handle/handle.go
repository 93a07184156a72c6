// Package handle holds the value that names a sandbox: everything needed to
// reach it from any language, and nothing that is not about it.
package handle

import (
	"encoding/json"
	"fmt"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Handle names one sandbox. It holds its tokens but no account key. Printing it
// shows no token; ToJSON does, because that is the result asked for.
type Handle struct {
	Provider    string `json:"provider"`               // whose it is
	SandboxID   string `json:"sandbox_id"`             // its id
	Domain      string `json:"domain,omitempty"`       // under which its ports are reached
	URLs        URLs   `json:"urls"`                   // where they do not follow from the domain
	Tokens      Tokens `json:"tokens"`                 // secrets
	EnvdVersion string `json:"envd_version,omitempty"` // of the daemon inside
	Template    string `json:"template,omitempty"`     // that it was made from
	Isolation   string `json:"isolation,omitempty"`    // what separates it from its host
}

// URLs of a sandbox. Empty ones follow from the domain.
type URLs struct {
	API     string `json:"api,omitempty"`     // the control plane
	Sandbox string `json:"sandbox,omitempty"` // one base for all sandbox traffic
}

// Tokens of a sandbox. Empty means that there is none.
type Tokens struct {
	Envd    string `json:"envd,omitempty"`    // for commands and files
	Traffic string `json:"traffic,omitempty"` // for the sandbox's own ports
}

// String shows what is no secret.
func (h Handle) String() string {
	return fmt.Sprintf("Sandbox(id=%s, provider=%s, template=%s, isolation=%s)", h.SandboxID, h.Provider, h.Template, h.Isolation)
}

// GoString keeps tokens out of %#v.
func (h Handle) GoString() string { return h.String() }

// String keeps tokens out of prints.
func (t Tokens) String() string { return "Tokens(hidden)" }

// GoString keeps tokens out of %#v.
func (t Tokens) GoString() string { return t.String() }

// ToJSON is the handle as text, tokens included.
func (h Handle) ToJSON() ([]byte, error) {
	type plain Handle
	return json.Marshal(plain(h))
}

// FromJSON reads what ToJSON wrote, in any language.
func FromJSON(b []byte) (*Handle, error) {
	var h Handle
	if err := json.Unmarshal(b, &h); err != nil {
		return nil, fault.InvalidArgument("this is not a sandbox handle in JSON").On("handle").Because(err)
	}
	if h.Provider == "" || h.SandboxID == "" {
		return nil, fault.InvalidArgument("a sandbox handle needs provider and sandbox_id").On("handle")
	}
	return &h, nil
}

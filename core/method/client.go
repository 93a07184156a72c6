package method

import (
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
)

// Client is what a host can read of a user's settings.
type Client struct {
	Arguments Arguments         `json:"arguments"`
	Env       map[string]string `json:"env,omitempty"`
	DotEnv    string            `json:"dotenv,omitempty"`
	Config    string            `json:"config,omitempty"`
	Server    *Server           `json:"server,omitempty"` // the local server, once found
}

// Server is a live local server.
type Server struct {
	URL        string `json:"url"`
	SandboxURL string `json:"sandbox_url"`
	APIKey     string `json:"api_key"`
}

// Arguments are the settings that a caller gives, in every language. All are optional.
type Arguments struct {
	Provider         string `json:"provider,omitempty"`           // local, e2b, ...
	Profile          string `json:"profile,omitempty"`            // of config.toml
	APIKey           string `json:"api_key,omitempty"`            // the account's key
	APIURL           string `json:"api_url,omitempty"`            // the control plane
	SandboxURL       string `json:"sandbox_url,omitempty"`        // one base for all sandbox traffic
	Domain           string `json:"domain,omitempty"`             // of the service
	Region           string `json:"region,omitempty"`             // where the provider has some
	MinIsolation     string `json:"min_isolation,omitempty"`      // namespaces, gvisor or vm
	Debug            *bool  `json:"debug,omitempty"`              // E2B_DEBUG
	RequestTimeoutMS *int64 `json:"request_timeout_ms,omitempty"` // until an answer's head; 0 = none
	IdleTimeoutMS    *int64 `json:"idle_timeout_ms,omitempty"`    // between chunks of a stream; 0 = none
	Retries          *int   `json:"retries,omitempty"`            // of calls that may be repeated; 0 = off
}

func (c *Call) client() (*core.Client, error) {
	return nil, fault.New(fault.CodeInternal, "not built")
}

func (c *Call) sandbox() (*core.Sandbox, error) {
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	h, err := handle.FromJSON(c.Sandbox)
	if err != nil {
		return nil, err
	}
	return client.Open(h)
}

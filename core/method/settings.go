package method

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// SettingsResolve says what the client's settings come to, without any request.
// Errors: E8000 names the source of what is wrong.
type SettingsResolve struct{}

// ResolvedSettings are settings with the places that they came from.
type ResolvedSettings struct {
	Provider         string            `json:"provider"`           // local, e2b, ...
	Source           string            `json:"source"`             // where the provider came from: argument, environment, .env, config.toml or default
	NeedsServer      bool              `json:"needs_server"`       // the host has to find the local server (or start it) before other calls
	Notice           string            `json:"notice,omitempty"`   // a line to print once, because nobody chose the provider
	APIURL           string            `json:"api_url"`            // "" = from the domain
	SandboxURL       string            `json:"sandbox_url"`        // "" = a host name a sandbox
	Domain           string            `json:"domain"`             // "" = the service's own
	Region           string            `json:"region"`             // "" = the provider's choice
	MinIsolation     string            `json:"min_isolation"`      // "" = none asked for
	Debug            bool              `json:"debug"`              // E2B_DEBUG
	RequestTimeoutMS int64             `json:"request_timeout_ms"` // 0 = none
	IdleTimeoutMS    int64             `json:"idle_timeout_ms"`    // 0 = none
	Retries          int               `json:"retries"`            // 0 = off
	From             map[string]string `json:"from"`               // of each setting: where it came from
}

func settings() []Method {
	return []Method{
		inner("settings.resolve", func(_ context.Context, c *Call, _ *SettingsResolve) (*ResolvedSettings, error) {
			if c.Account == nil {
				return nil, fault.InvalidArgument("the method needs the client's settings")
			}
			return c.Account.resolved(), nil
		}),
	}
}

func (a *Account) resolved() *ResolvedSettings {
	s := a.settings
	from := map[string]string{}
	for _, key := range []string{"provider", "api_key", "api_url", "sandbox_url", "domain", "region", "min_isolation", "debug"} {
		from[key] = string(s.From(key))
	}
	return &ResolvedSettings{
		Provider: s.Provider, Source: from["provider"], NeedsServer: s.NeedsServer(), Notice: s.Notice(),
		APIURL: s.APIURL, SandboxURL: s.SandboxURL, Domain: s.Domain, Region: s.Region,
		MinIsolation: s.MinIsolation, Debug: s.Debug, RequestTimeoutMS: s.RequestTimeout.Milliseconds(),
		IdleTimeoutMS: s.IdleTimeout.Milliseconds(), Retries: s.Retries, From: from,
	}
}

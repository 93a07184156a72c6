package method

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/provider/local"
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

// ServerCheck proves that the server of a state file lives: it shows that it
// knows its key. Errors: E5001 when it lives but is of another generation.
type ServerCheck struct {
	State string `json:"state" arg:"1"` // the text of the state file
}

// CheckedServer is what a state file says of a live server.
type CheckedServer struct {
	Server  *Server `json:"server"`            // null when none lives
	Version string  `json:"version,omitempty"` // of its program
	PID     int     `json:"pid,omitempty"`     // of its process
}

// TestPanic panics, which the core contains. Errors: E9000 always.
type TestPanic struct{}

// TestTrap ends the whole instance, as a bug that cannot be contained would.
type TestTrap struct{}

func settings() []Method {
	return []Method{
		inner("settings.resolve", func(_ context.Context, c *Call, _ *SettingsResolve) (*ResolvedSettings, error) {
			if c.Account == nil {
				return nil, fault.InvalidArgument("the method needs the client's settings")
			}
			return c.Account.resolved(), nil
		}),
		inner("server.check", func(ctx context.Context, c *Call, p *ServerCheck) (*CheckedServer, error) {
			s, err := local.Check(ctx, c.Host, []byte(p.State))
			if s == nil || err != nil {
				return &CheckedServer{}, err
			}
			return &CheckedServer{Server: &Server{URL: s.URL, SandboxURL: s.SandboxURL, APIKey: s.APIKey}, Version: s.Version, PID: s.PID}, nil
		}),
		inner("test.panic", func(context.Context, *Call, *TestPanic) (none, error) { panic("test.panic") }),
		inner("test.trap", func(_ context.Context, c *Call, _ *TestTrap) (none, error) {
			c.Caller.Trap()
			return nil, nil
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

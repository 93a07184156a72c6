package method

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
)

// Client is what a host can read of a user's settings.
type Client struct {
	Arguments Arguments         `json:"arguments"`        // what the caller gave
	Env       map[string]string `json:"env,omitempty"`    // those of the schema's variables that are set
	DotEnv    string            `json:"dotenv,omitempty"` // the text of .env in the working directory
	Config    string            `json:"config,omitempty"` // the text of config.toml
	Server    *Server           `json:"server,omitempty"` // the local server, once found
}

// Server is a live local server.
type Server struct {
	URL        string `json:"url"`         // its control plane
	SandboxURL string `json:"sandbox_url"` // one base for all sandbox traffic; may be empty
	APIKey     string `json:"api_key"`     // its key
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

// Account is a client whose settings are resolved. It is immutable.
type Account struct {
	settings *setting.Settings
}

// NewAccount resolves the text of a client as a call carries it. Errors are
// E8000 and name the source of what is wrong.
func NewAccount(text []byte) (*Account, error) {
	var c Client
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, unfit(reflect.TypeFor[Client](), err)
	}
	s, err := setting.Resolve(c.input())
	if err != nil {
		return nil, err
	}
	if c.Server != nil {
		s = s.OnServer(c.Server.URL, c.Server.SandboxURL, c.Server.APIKey)
	}
	return &Account{s}, nil
}

func (c *Client) input() setting.Input {
	a := &c.Arguments
	in := setting.Input{
		Arguments: setting.Arguments{
			Provider: a.Provider, Profile: a.Profile, APIKey: a.APIKey, APIURL: a.APIURL, SandboxURL: a.SandboxURL, Domain: a.Domain,
			Region: a.Region, MinIsolation: a.MinIsolation, Debug: a.Debug, Retries: a.Retries,
			RequestTimeout: duration(a.RequestTimeoutMS), IdleTimeout: duration(a.IdleTimeoutMS),
		},
		Env: c.Env,
	}
	if c.DotEnv != "" {
		in.DotEnv = []byte(c.DotEnv)
	}
	if c.Config != "" {
		in.Config = []byte(c.Config)
	}
	return in
}

// client is a client of the call's account, under the call's request clock.
func (c *Call) client() (*core.Client, error) {
	if c.Account == nil {
		return nil, fault.InvalidArgument("the method needs the client's settings")
	}
	s := c.Account.settings
	if c.RequestTimeoutMS != nil {
		if *c.RequestTimeoutMS < 0 {
			return nil, fault.InvalidArgument("%s must not be negative; 0 means none", fault.Option("request_timeout_ms"))
		}
		mine := *s
		mine.RequestTimeout = *duration(c.RequestTimeoutMS)
		s = &mine
	}
	return core.NewClient(c.Host, s)
}

func (c *Call) sandbox() (*core.Sandbox, error) {
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	if c.Handle == nil {
		return nil, fault.InvalidArgument("the method needs a sandbox")
	}
	return client.Open(c.Handle)
}

// maxMS is the longest duration in whole milliseconds.
const maxMS = int64(1<<63-1) / int64(time.Millisecond)

func duration(ms *int64) *time.Duration {
	if ms == nil {
		return nil
	}
	d := time.Duration(min(max(*ms, -maxMS), maxMS)) * time.Millisecond
	return &d
}

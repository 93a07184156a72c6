package setting

import (
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Arguments are what the caller gave. nil and "" mean unset; a pointer to false
// or 0 is an explicit value.
type Arguments struct {
	Provider       string
	Profile        string
	APIKey         string
	APIURL         string
	SandboxURL     string
	Domain         string
	Region         string
	MinIsolation   string
	Debug          *bool
	RequestTimeout *time.Duration
	IdleTimeout    *time.Duration
	Retries        *int
}

// String shows no secret.
func (a Arguments) String() string { return "Arguments(provider=" + a.Provider + ")" }

// GoString keeps the key out of %#v.
func (a Arguments) GoString() string { return a.String() }

// Settings are resolved. They are immutable.
type Settings struct {
	Provider       string
	APIKey         string
	APIURL         string // "" = from the domain
	SandboxURL     string // one base for all sandbox traffic; "" = a host a sandbox
	Domain         string
	Region         string
	MinIsolation   string // "", namespaces, gvisor, vm
	Debug          bool
	RequestTimeout time.Duration // 0 = none
	IdleTimeout    time.Duration // 0 = none
	Retries        int

	from  map[string]Source
	names map[string]string // of the variable or the key of config.toml, where no argument
}

// From tells where the value of a config key came from.
func (s *Settings) From(key string) Source {
	if src, ok := s.from[key]; ok {
		return src
	}
	return FromDefault
}

// Place names a setting as whoever made it knows it: an option, a variable, a
// key of config.toml.
func (s *Settings) Place(key fault.Option) any {
	return place(key, s.From(string(key)), s.names[string(key)])
}

func place(option fault.Option, from Source, name string) any {
	switch from {
	case FromEnvironment:
		return name
	case FromDotEnv, FromConfig:
		return name + " in " + string(from)
	}
	return option
}

// Defaults.
const (
	DefaultDomain         = "e2b.app"
	DefaultRequestTimeout = 60 * time.Second
	DefaultIdleTimeout    = 60 * time.Second
	DefaultRetries        = 3
)

// String shows no secret.
func (s Settings) String() string { return "Settings(provider=" + s.Provider + ")" }

// GoString keeps the key out of %#v.
func (s Settings) GoString() string { return s.String() }

// Silence is the idle clock where a user set one: it also bounds the wait for an
// answer to begin, which the default leaves to the request clock.
func (s *Settings) Silence() time.Duration {
	if s.From("idle_timeout") == FromDefault {
		return 0
	}
	return s.IdleTimeout
}

// NeedsServer tells whether the local server has to be found before a call: the
// provider is local, and nobody said where its server is.
func (s *Settings) NeedsServer() bool { return s.Provider == "local" && s.APIURL == "" }

// OnServer points settings that need the local server at one.
func (s *Settings) OnServer(url, sandboxURL, apiKey string) *Settings {
	if !s.NeedsServer() {
		return s
	}
	mine := *s
	mine.APIKey, mine.APIURL, mine.SandboxURL, mine.Domain = apiKey, url, sandboxURL, ""
	return &mine
}

// Notice is the one line for a user when the provider was chosen by nobody; ""
// when there is nothing to say. Only local may surprise: a key for E2B speaks for
// itself.
func (s *Settings) Notice() string {
	if s.Provider != "local" || s.From("provider") != FromDefault {
		return ""
	}
	return "agent-sandbox: provider local (on this machine, isolation: namespaces); set E2B_API_KEY or SANDBOX_PROVIDER for another"
}

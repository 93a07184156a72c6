// Package setting resolves what a user configured, from arguments, the
// environment, .env, config.toml and defaults, and knows where each value came
// from. It reads nothing itself: hosts hand in bytes (surface.md section 2).
package setting

// Source is where a value came from.
type Source string

// The sources, strongest first.
const (
	FromArgument    Source = "argument"
	FromEnvironment Source = "environment"
	FromDotEnv      Source = ".env"
	FromConfig      Source = "config.toml"
	FromDefault     Source = "default"
)

// Input is what a host can read.
type Input struct {
	Arguments Arguments
	Env       map[string]string // the variables of Variables(), as far as set
	DotEnv    []byte            // the .env of the working directory; nil = none
	Config    []byte            // config.toml; nil = none
}

// name is one setting: its key in config.toml, its variables, strongest first.
type name struct {
	key  string
	e2b  string // variable with E2B's meaning, for the E2B family
	ours string
}

var names = []name{
	{"provider", "", "SANDBOX_PROVIDER"},
	{"profile", "", "SANDBOX_PROFILE"},
	{"api_key", "E2B_API_KEY", "SANDBOX_API_KEY"},
	{"api_url", "E2B_API_URL", "SANDBOX_API_URL"},
	{"sandbox_url", "E2B_SANDBOX_URL", "SANDBOX_SANDBOX_URL"},
	{"domain", "E2B_DOMAIN", "SANDBOX_DOMAIN"},
	{"debug", "E2B_DEBUG", "SANDBOX_DEBUG"},
	{"region", "", "SANDBOX_REGION"},
	{"http_timeout", "", "SANDBOX_HTTP_TIMEOUT"},
	{"min_isolation", "", "SANDBOX_MIN_ISOLATION"},
	{"retries", "", "SANDBOX_RETRIES"},
}

// onlyEnvironment are read by hosts for their transports; a .env in a cloned
// repository must not be able to set them.
var onlyEnvironment = []string{
	"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy", "SSL_CERT_FILE",
}

// Variables lists the environment variables that a host hands in.
func Variables() []string {
	var all []string
	for _, n := range names {
		if n.e2b != "" {
			all = append(all, n.e2b)
		}
		all = append(all, n.ours)
	}
	return append(all, onlyEnvironment...)
}

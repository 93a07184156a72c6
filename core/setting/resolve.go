package setting

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/uri"
)

// value is a text and where it came from.
type value struct {
	text string
	from Source
	name string // of the variable or the key of config.toml; "" = an argument
}

type resolver struct {
	in      Input
	dotEnv  map[string]string
	config  map[string]string
	profile string
	family  bool // the provider is of the E2B family: E2B_ names count
}

// Resolve applies the order argument > environment > .env > config.toml >
// default. Errors are E8000 and name the source of what is wrong.
func Resolve(in Input) (*Settings, error) {
	r := &resolver{in: in}
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n.e2b], wanted[n.ours] = true, true
	}
	delete(wanted, "")
	var err error
	if r.dotEnv, err = parseDotEnv(in.DotEnv, wanted); err != nil {
		return nil, err
	}
	if r.config, err = parseTOML(in.Config); err != nil {
		return nil, err
	}
	if err := r.pickProfile(); err != nil {
		return nil, err
	}
	return r.settings()
}

func (r *resolver) pickProfile() error {
	r.profile = r.lookup("profile", r.in.Arguments.Profile).text
	if r.profile == "" {
		return nil
	}
	for key := range r.config {
		if strings.HasPrefix(key, "profile."+r.profile+".") {
			return nil
		}
	}
	return fault.InvalidArgument("config.toml has no [profile.%s]", r.profile)
}

// lookup finds one setting in the order of the sources. An empty variable is unset.
func (r *resolver) lookup(key, argument string) value {
	if argument != "" {
		return value{argument, FromArgument, ""}
	}
	n := names[slices.IndexFunc(names, func(n name) bool { return n.key == key })]
	variables := []string{n.ours}
	if r.family && n.e2b != "" {
		variables = []string{n.e2b, n.ours}
	}
	for _, layer := range []struct {
		vars map[string]string
		from Source
	}{{r.in.Env, FromEnvironment}, {r.dotEnv, FromDotEnv}} {
		for _, v := range variables {
			if text := layer.vars[v]; text != "" {
				return value{text, layer.from, v}
			}
		}
	}
	if text := r.config["profile."+r.profile+"."+key]; r.profile != "" && text != "" {
		return value{text, FromConfig, key}
	}
	if text := r.config[key]; text != "" {
		return value{text, FromConfig, key}
	}
	return value{"", FromDefault, ""}
}

func (r *resolver) settings() (*Settings, error) {
	a := r.in.Arguments
	s := &Settings{from: map[string]Source{}, names: map[string]string{}}
	provider := r.lookup("provider", a.Provider)
	if provider.text == "" {
		provider.text = r.guess()
	}
	s.Provider, s.from["provider"], s.names["provider"] = provider.text, provider.from, provider.name
	r.family = s.Provider != "local" && s.Provider != "jupyter"
	for _, t := range []struct {
		key      string
		to       *string
		argument string
	}{
		{"api_key", &s.APIKey, a.APIKey},
		{"api_url", &s.APIURL, a.APIURL},
		{"sandbox_url", &s.SandboxURL, a.SandboxURL},
		{"domain", &s.Domain, a.Domain},
		{"region", &s.Region, a.Region},
		{"min_isolation", &s.MinIsolation, a.MinIsolation},
	} {
		v := r.lookup(t.key, t.argument)
		*t.to, s.from[t.key], s.names[t.key] = v.text, v.from, v.name
	}
	if err := r.typed(s); err != nil {
		return nil, err
	}
	return s, check(s)
}

// guess picks E2B when there is a key for it, else the local provider.
func (r *resolver) guess() string {
	r.family = true
	if r.lookup("api_key", r.in.Arguments.APIKey).text != "" {
		return "e2b"
	}
	if d := r.lookup("debug", "").text; strings.EqualFold(d, "true") {
		return "e2b"
	}
	return "local"
}

func (r *resolver) typed(s *Settings) error {
	a := r.in.Arguments
	debug := r.lookup("debug", "")
	s.Debug, s.from["debug"] = strings.EqualFold(debug.text, "true") || debug.text == "1", debug.from
	if a.Debug != nil {
		s.Debug, s.from["debug"] = *a.Debug, FromArgument
	}
	var err error
	if s.RequestTimeout, err = r.seconds("http_timeout", "request_timeout_ms", a.RequestTimeout, DefaultRequestTimeout); err != nil {
		return err
	}
	s.IdleTimeout = DefaultIdleTimeout
	if a.IdleTimeout != nil {
		s.from["idle_timeout"] = FromArgument
		if s.IdleTimeout = *a.IdleTimeout; s.IdleTimeout < 0 {
			return fault.InvalidArgument("%s must not be negative; 0 means none", fault.Option("idle_timeout_ms"))
		}
	}
	return r.retries(s)
}

func (r *resolver) retries(s *Settings) error {
	s.Retries = DefaultRetries
	said := place("retries", FromArgument, "")
	if n := r.in.Arguments.Retries; n != nil {
		s.Retries = *n
	} else if v := r.lookup("retries", ""); v.text != "" {
		n, err := strconv.Atoi(v.text)
		if err != nil {
			return fault.InvalidArgument("%s must be a whole number, not %q", place("retries", v.from, v.name), clip(v.text)).On("retries")
		}
		s.Retries, said = n, place("retries", v.from, v.name)
	}
	if s.Retries < 0 || s.Retries > 100 {
		return fault.InvalidArgument("%s must be from 0 (off) to 100, not %d", said, s.Retries).On("retries")
	}
	return nil
}

func (r *resolver) seconds(key string, option fault.Option, argument *time.Duration, def time.Duration) (time.Duration, error) {
	if argument != nil {
		if *argument < 0 {
			return 0, fault.InvalidArgument("%s must not be negative; 0 means none", option)
		}
		return *argument, nil
	}
	v := r.lookup(key, "")
	if v.text == "" {
		return def, nil
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1e9 {
		return 0, fault.InvalidArgument("%s must be seconds from 0 (none) up, not %q", place(option, v.from, v.name), clip(v.text)).On(option)
	}
	if f == 0 {
		return 0, nil
	}
	return max(time.Duration(f*float64(time.Second)), time.Millisecond), nil
}

func clip(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return s
}

func check(s *Settings) error {
	if !slices.Contains([]string{"", "none", "namespaces", "gvisor", "vm"}, s.MinIsolation) {
		return fault.InvalidArgument("%s must be namespaces, gvisor or vm, not %q", s.Place("min_isolation"), clip(s.MinIsolation)).On("min_isolation")
	}
	if strings.ContainsFunc(s.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.InvalidArgument("%s has a character that a key cannot have", s.Place("api_key")).On("api_key")
	}
	if err := s.checkURL("api_url", s.APIURL); err != nil {
		return err
	}
	if err := s.checkURL("sandbox_url", s.SandboxURL); err != nil {
		return err
	}
	if s.Domain != "" && !uri.IsDomain(s.Domain) {
		return fault.InvalidArgument("%s must be a host name such as %s, with a port where there is one, not %q", s.Place("domain"), DefaultDomain, clip(s.Domain)).On("domain")
	}
	return checkTrust(s)
}

func (s *Settings) checkURL(key fault.Option, text string) error {
	if text == "" {
		return nil
	}
	if !uri.IsBase(text) {
		return fault.InvalidArgument("%s must be http:// or https:// with a host, and without user, query or fragment", s.Place(key)).On(key)
	}
	return nil
}

// checkTrust: a cloned repository's .env must not be able to send the user's
// stored key elsewhere.
func checkTrust(s *Settings) error {
	keyFrom := s.From("api_key")
	if s.APIKey == "" || keyFrom == FromDotEnv {
		return nil
	}
	for _, key := range []fault.Option{"api_url", "sandbox_url", "domain"} {
		if s.From(string(key)) == FromDotEnv {
			return fault.InvalidArgument("%s names a server but %s does not come from there (%s): a .env may only name a server together with its own key", s.Place(key), fault.Option("api_key"), keyFrom).
				On(key).Suggest("put both into .env, or pass %s as an argument", key)
		}
	}
	return nil
}

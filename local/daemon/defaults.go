package daemon

import (
	"maps"
	"sync"
	"time"
)

// defaults are what requests leave out. POST /init replaces them, so they are
// read anew by each request.
type defaults struct {
	identity map[string]string
	mu       sync.RWMutex
	secret   string
	account  string
	workdir  string
	envs     map[string]string
	stamp    time.Time
}

func newDefaults(o Options) *defaults {
	identity := map[string]string{"E2B_SANDBOX": "true"}
	if o.SandboxID != "" {
		identity["E2B_SANDBOX_ID"] = o.SandboxID
	}
	if o.TemplateID != "" {
		identity["E2B_TEMPLATE_ID"] = o.TemplateID
	}
	account := o.DefaultUser
	if account == "" {
		account = "user"
	}
	return &defaults{
		identity: identity, secret: o.Token, account: account,
		workdir: o.DefaultWorkdir, envs: maps.Clone(o.Envs),
	}
}

func (f *defaults) token() string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.secret
}

func (f *defaults) user() string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.account
}

func (f *defaults) directory() string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.workdir
}

// environment is a copy of the default variables, the identity included.
func (f *defaults) environment() map[string]string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	all := maps.Clone(f.identity)
	maps.Copy(all, f.envs)
	return all
}

// replace takes over what an /init names. One that is older than the last is
// ignored (e2b.md 3.2).
func (f *defaults) replace(in *initRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if in.Timestamp != nil {
		if in.Timestamp.Before(f.stamp) {
			return
		}
		f.stamp = *in.Timestamp
	}
	if in.AccessToken != nil {
		f.secret = *in.AccessToken
	}
	if in.EnvVars != nil {
		f.envs = maps.Clone(*in.EnvVars)
	}
	if in.DefaultUser != nil && *in.DefaultUser != "" {
		f.account = *in.DefaultUser
	}
	if in.DefaultWorkdir != nil && *in.DefaultWorkdir != "" {
		f.workdir = *in.DefaultWorkdir
	}
}

// Environment is a copy of the variables that every command gets.
func (d *Daemon) Environment() map[string]string { return d.defaults.environment() }

// SetEnvironment replaces the variables that every command gets.
func (d *Daemon) SetEnvironment(envs map[string]string) {
	d.defaults.mu.Lock()
	defer d.defaults.mu.Unlock()
	d.defaults.envs = maps.Clone(envs)
}

// Token is the access token that requests must carry, "" = none.
func (d *Daemon) Token() string { return d.defaults.token() }

//go:build linux

package guest

import (
	"maps"
	"strings"
)

// Path is the PATH inside.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// caVariables are where programs look for the CA bundle.
var caVariables = [...]string{
	"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
}

// environment are the variables of every process; the caller's come last.
func (p *process1) environment() map[string]string {
	env := map[string]string{
		"E2B_SANDBOX":     "true",
		"E2B_SANDBOX_ID":  p.cfg.SandboxID,
		"E2B_TEMPLATE_ID": p.cfg.TemplateID,
	}
	if p.cfg.CA != "" {
		for _, name := range caVariables {
			env[name] = p.cfg.CA
		}
	}
	for _, line := range p.networkEnv {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	maps.Copy(env, p.cfg.Envs)
	return env
}

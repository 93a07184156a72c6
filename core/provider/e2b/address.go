package e2b

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/envd"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/interpreter"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/retry"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Addresses of a sandbox (e2b.md 2.2).

func (c *control) HostOf(h *handle.Handle, port int) string {
	if c.settings.Debug {
		return "localhost:" + strconv.Itoa(port)
	}
	return strconv.Itoa(port) + "-" + h.SandboxID + "." + h.Domain
}

func (c *control) URLOf(h *handle.Handle, port int) string {
	if c.preset.HTTP || c.settings.Debug || c.plainAndHere(h) {
		return "http://" + c.HostOf(h, port)
	}
	return "https://" + c.HostOf(h, port)
}

// plainAndHere: a server of this machine that is spoken to without TLS serves its
// sandboxes without it, too, whatever the provider is called.
func (c *control) plainAndHere(h *handle.Handle) bool {
	name, _, _ := strings.Cut(h.Domain, ":")
	return name == "localhost" && strings.HasPrefix(c.base, "http://")
}

// dataBase is where calls to envd go.
func (c *control) dataBase(h *handle.Handle) string {
	switch {
	case h.URLs.Sandbox != "":
		return h.URLs.Sandbox
	case slices.Contains(ownDomains, h.Domain) && !c.settings.Debug:
		return "https://sandbox." + h.Domain
	}
	return c.URLOf(h, envd.Port)
}

// directBase is what signed URLs name: the sandbox's own host, unless all traffic
// has one base. The local server finds the sandbox by the signature, and its base
// needs no name to be resolved: *.localhost is unknown to many an HTTP client.
func (c *control) directBase(h *handle.Handle) string {
	if h.URLs.Sandbox != "" {
		return h.URLs.Sandbox
	}
	return c.URLOf(h, envd.Port)
}

func (c *control) Data(h *handle.Handle) plane.Data { return c.data(h) }

func (c *control) data(h *handle.Handle) *envd.Client {
	return envd.New(envd.Config{
		Host: c.host, SandboxID: h.SandboxID, Base: c.dataBase(h), Direct: c.directBase(h),
		AccessToken: h.Tokens.Envd, Version: h.EnvdVersion, UserAgent: c.userAgent, Header: c.trafficHeader(h),
		Request: c.settings.RequestTimeout, Idle: c.settings.IdleTimeout, Silence: c.settings.Silence(),
		Retry: retry.Policy{Max: c.settings.Retries, Total: c.settings.RequestTimeout}, OneProcess: c.preset.OneProcess,
	})
}

// Interpreter is reached at its own port: E2B's shared host is for envd alone.
func (c *control) Interpreter(h *handle.Handle) plane.Interpreter {
	base := h.URLs.Sandbox
	if base == "" {
		base = c.URLOf(h, interpreter.Port)
	}
	header := c.trafficHeader(h)
	if c.userAgent != "" {
		header = append(header, [2]string{"user-agent", c.userAgent})
	}
	return interpreter.New(interpreter.Config{
		Host: c.host, SandboxID: h.SandboxID, Base: base, AccessToken: h.Tokens.Envd, Header: header,
		Request: c.settings.RequestTimeout, Retry: retry.Policy{Max: c.settings.Retries, Total: c.settings.RequestTimeout},
		Explain: c.data(h).Explain,
	})
}

func (c *control) trafficHeader(h *handle.Handle) transport.Header {
	if h.Tokens.Traffic == "" {
		return nil
	}
	return transport.Header{{"e2b-traffic-access-token", h.Tokens.Traffic}}
}

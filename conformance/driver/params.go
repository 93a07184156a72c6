package driver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/agent-sandbox/agent-sandbox/conformance/runner"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
)

func unmarshal(raw json.RawMessage, to any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("the parameters of the case: %w", err)
	}
	return nil
}

// millis are a number of milliseconds, with fractions.
type millis float64

func (m *millis) duration() *time.Duration {
	if m == nil {
		return nil
	}
	ns := float64(*m) * float64(time.Millisecond)
	d := time.Duration(math.MaxInt64)
	if ns < math.MaxInt64 {
		d = time.Duration(ns)
	}
	return &d
}

func (m *millis) or0() time.Duration {
	if d := m.duration(); d != nil {
		return *d
	}
	return 0
}

type argumentsJSON struct {
	Provider         string  `json:"provider"`
	Profile          string  `json:"profile"`
	APIKey           string  `json:"api_key"`
	APIURL           string  `json:"api_url"`
	SandboxURL       string  `json:"sandbox_url"`
	Domain           string  `json:"domain"`
	Region           string  `json:"region"`
	MinIsolation     string  `json:"min_isolation"`
	Debug            *bool   `json:"debug"`
	RequestTimeoutMS *millis `json:"request_timeout_ms"`
	IdleTimeoutMS    *millis `json:"idle_timeout_ms"`
	Retries          *int    `json:"retries"`
}

func (a *argumentsJSON) arguments() setting.Arguments {
	return setting.Arguments{
		Provider: a.Provider, Profile: a.Profile, APIKey: a.APIKey, APIURL: a.APIURL, SandboxURL: a.SandboxURL, Domain: a.Domain,
		Region: a.Region, MinIsolation: a.MinIsolation, Debug: a.Debug,
		RequestTimeout: a.RequestTimeoutMS.duration(), IdleTimeout: a.IdleTimeoutMS.duration(), Retries: a.Retries,
	}
}

type runJSON struct {
	Cwd              string            `json:"cwd"`
	Envs             map[string]string `json:"envs"`
	User             string            `json:"user"`
	Tag              string            `json:"tag"`
	Stdin            bool              `json:"stdin"`
	TimeoutMS        *millis           `json:"timeout_ms"`
	IdleTimeoutMS    *millis           `json:"idle_timeout_ms"`
	RequestTimeoutMS *millis           `json:"request_timeout_ms"`
	Check            bool              `json:"check"`
	RetainOutput     *bool             `json:"retain_output"`
	// On names the callbacks that the caller passes; at the first of the kind
	// DisconnectOn it disconnects, from inside the callback.
	On           []string `json:"on"`
	DisconnectOn string   `json:"disconnect_on"`
}

func (r *runJSON) options(emit func(string, any)) core.RunOptions {
	o := core.RunOptions{
		Cwd: r.Cwd, Envs: r.Envs, User: r.User, Tag: r.Tag, Stdin: r.Stdin, Timeout: r.TimeoutMS.duration(),
		IdleTimeout: r.IdleTimeoutMS.duration(), RequestTimeout: r.RequestTimeoutMS.duration(), Check: r.Check,
		DiscardOutput: r.RetainOutput != nil && !*r.RetainOutput,
	}
	raw := func(kind string) func([]byte) { return func(b []byte) { emit(kind, string(b64(b))) } }
	text := func(kind string) func(string) { return func(s string) { emit(kind, s) } }
	for _, kind := range r.On {
		switch kind {
		case "start":
			o.OnStart = func(pid uint32) { emit("start", pid) }
		case "stdout":
			o.OnStdout = raw(kind)
		case "stderr":
			o.OnStderr = raw(kind)
		case "pty":
			o.OnPTY = raw(kind)
		case "stdout_text":
			o.OnStdoutText = text(kind)
		case "stderr_text":
			o.OnStderrText = text(kind)
		}
	}
	return o
}

type selectorJSON struct {
	PID uint32 `json:"pid"`
	Tag string `json:"tag"`
}

func (s selectorJSON) selector() core.Selector { return core.Selector{PID: s.PID, Tag: s.Tag} }

type startCall struct {
	command string
	argv    []string
	pty     bool
	size    core.Size
	attach  bool
	sel     core.Selector
	o       core.RunOptions
	ready   chan process // gets the process once it has started
}

// content is a file's bytes in a case.
type content struct {
	bytes []byte
}

func (c *content) UnmarshalJSON(raw []byte) error {
	var b runner.Bytes
	if err := json.Unmarshal(raw, &b); err != nil {
		return err
	}
	c.bytes = b.Get()
	return nil
}

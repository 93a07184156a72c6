package command

import (
	"os"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Create is `sandboxc create`.
type Create struct {
	Making
	Env        []string `short:"e" sep:"none" placeholder:"K[=V]" help:"A variable for every command in the sandbox; without =V the value of this shell's."`
	Timeout    *float64 `placeholder:"SECONDS" help:"How long the sandbox lives. Default: what the provider says (300). 0 = no end (local provider)."`
	Metadata   []string `sep:"none" placeholder:"K=V" help:"Metadata to find it by."`
	OnTimeout  string   `enum:"kill,pause," default:"" placeholder:"kill|pause" help:"What happens at the end of its life."`
	AutoResume bool     `help:"Traffic wakes it when it is paused (needs --on-timeout pause)."`
}

// Run makes it.
func (c *Create) Run(a *App) error {
	o, copies, err := c.options()
	if err != nil {
		return err
	}
	client, err := a.client(a.ctx, nil, a.Err)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	sbx, err := prepare(a.ctx, client, o, copies, a.leftOut)
	if err != nil {
		if sbx != nil {
			end(a, sbx)
		}
		return err
	}
	return a.Line(made{sbx.ID(), client.Provider(), sbx.Handle().Template, sbx.Isolation()}, "%s", sbx.ID())
}

// made is a new sandbox as --json prints it.
type made struct {
	SandboxID string `json:"sandbox_id"`
	Provider  string `json:"provider"`
	Template  string `json:"template"`
	Isolation string `json:"isolation"`
}

func (c *Create) options() (core.CreateOptions, []copying, error) {
	o, err := c.Making.options()
	if err != nil {
		return o, nil, err
	}
	if o.Timeout, err = seconds("--timeout", c.Timeout); err != nil {
		return o, nil, err
	}
	if o.Envs, err = parseEnvs(c.Env, os.LookupEnv); err != nil {
		return o, nil, err
	}
	if o.Metadata, err = parseMetadata(c.Metadata); err != nil {
		return o, nil, err
	}
	o.OnTimeout = c.OnTimeout
	if c.AutoResume {
		o.AutoResume = &c.AutoResume
	}
	copies, err := c.copies()
	return o, copies, err
}

func parseMetadata(list []string) (map[string]string, error) {
	m := map[string]string{}
	for _, item := range list {
		name, value, ok := strings.Cut(item, "=")
		if !ok || name == "" {
			return nil, fault.InvalidArgument("--metadata %q must be K=V", item)
		}
		m[name] = value
	}
	return m, nil
}

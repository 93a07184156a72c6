package command

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/egress"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// examine asks the local provider what it needs. It leaves nothing behind.
func examine(ctx context.Context) (findings []finding, err error) {
	state := native.StateDir(os.Getenv)
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(state, "doctor-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	engine, err := isolation.Open(ctx, isolation.Config{StateDir: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	for _, n := range engine.Needs() {
		findings = append(findings, finding{n.Name, string(n.State), n.Detail, n.Fix})
	}
	var names []string
	for _, t := range engine.Templates() {
		names = append(names, t.ID)
	}
	findings = append(findings, finding{Name: "templates", State: string(isolation.Present), Detail: strings.Join(names, ", ")})
	return append(findings, network()), nil
}

// network says how sandboxes reach the internet from here.
func network() finding {
	host := egress.NewHost(egress.HostOptions{Registries: true, Env: os.Environ()})
	f := finding{Name: "network", State: string(isolation.Present), Detail: "sandboxes reach the internet directly"}
	if host.Proxied() {
		f.State = string(isolation.Degraded)
		f.Detail = "through this machine's proxy: network rules are checked on names alone"
	}
	if r := host.Registries(); len(r) > 0 {
		f.Detail += "; registries: " + strings.Join(r, ", ")
	}
	return f
}

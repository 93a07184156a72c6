package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/hosting"
	"github.com/agent-sandbox/agent-sandbox/local/egress"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/local/pool"
	"github.com/agent-sandbox/agent-sandbox/local/template"
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
	built, err := openTemplates()
	if err != nil {
		return nil, err
	}
	for _, t := range append(engine.Templates(), built.Templates()...) {
		names = append(names, t.ID)
	}
	findings = append(findings, finding{Name: "templates", State: string(isolation.Present), Detail: strings.Join(names, ", ")})
	return append(findings, interpreter(ctx, built), network()), nil
}

// interpreter says whether code can be run, and how fast that begins.
func interpreter(ctx context.Context, built *template.Store) finding {
	f := finding{Name: "code interpreter", State: string(isolation.Present)}
	info, err := built.Get(template.CodeInterpreter)
	if err != nil || !built.Usable(info) {
		f.State, f.Detail = string(isolation.Degraded), template.CodeInterpreter+" has not been built, or on another Python"
		f.Fix = "sandboxc template build " + template.CodeInterpreter
		return f
	}
	f.Detail = template.CodeInterpreter + " is built"
	server, err := hosting.Live(ctx, os.Getenv)
	if err != nil {
		f.Detail += "; no server runs that could keep sandboxes of it ready"
		return f
	}
	var state pool.State
	status, message, err := inquire(ctx, server, "/interpreter-pool", &state)
	switch {
	case err != nil || status != http.StatusOK:
		f.Detail += "; the server does not tell how many are ready: " + message
	case state.Size == 0:
		f.Detail += "; the server keeps none ready (--interpreter-pool 0)"
	case !state.Started:
		f.Detail += fmt.Sprintf("; the server keeps %d ready once one was used", state.Size)
	default:
		f.Detail += fmt.Sprintf("; %d of %d are ready", state.Ready, state.Size)
	}
	return f
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

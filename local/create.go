//go:build linux

package local

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/fleet"
	"github.com/agent-sandbox/agent-sandbox/local/gateway"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// The lifetimes of a sandbox whose maker did not say (e2b.md 1.2).
const (
	defaultLifetime    = 300 * time.Second
	defaultLifetimeOld = 15 * time.Second
)

// order is a checked request for a sandbox.
type order struct {
	*api.NewSandbox
	template isolation.Template
	lifetime time.Duration
	secured  bool
	grant    access.Grant
}

func (s *Server) createV2(w http.ResponseWriter, r *http.Request) error {
	return s.create(w, r, func(n *api.NewSandbox) (time.Duration, error) {
		n.Secure = nil
		return api.Lifetime(n.Timeout, defaultLifetime, true)
	})
}

func (s *Server) createV1(w http.ResponseWriter, r *http.Request) error {
	return s.create(w, r, func(n *api.NewSandbox) (time.Duration, error) {
		return api.Lifetime(n.Timeout, defaultLifetimeOld, false)
	})
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, lifetime func(*api.NewSandbox) (time.Duration, error)) error {
	body, err := api.ReadBody(r)
	if err != nil {
		return err
	}
	o, err := s.readOrder(body, grantOf(r), lifetime)
	if err != nil {
		return err
	}
	made, err := s.creates.once(r, body, func(ctx context.Context) (*api.Sandbox, error) {
		sb, err := s.start(ctx, o)
		if err != nil {
			return nil, err
		}
		return sb.answer(domain(r)), nil
	})
	if err != nil {
		return err
	}
	api.WriteJSON(w, http.StatusCreated, made)
	return nil
}

// readOrder checks everything that can be checked before anything is made.
func (s *Server) readOrder(body []byte, grant access.Grant, lifetime func(*api.NewSandbox) (time.Duration, error)) (*order, error) {
	o := &order{NewSandbox: &api.NewSandbox{}, secured: true, grant: grant}
	if err := api.Decode(body, false, o.NewSandbox); err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	var err error
	if o.lifetime, err = lifetime(o.NewSandbox); err != nil {
		return nil, err
	}
	if o.Secure != nil {
		o.secured = *o.Secure
	}
	if len(o.HostMounts) > 0 && grant != access.Owner {
		return nil, api.Faultf(http.StatusForbidden, "the key of a page may not use hostMounts")
	}
	if err := checkSources(o.HostMounts); err != nil {
		return nil, err
	}
	o.template, err = s.findTemplate(o.TemplateID)
	return o, err
}

func checkSources(mounts []api.HostMount) error {
	for i, m := range mounts {
		if _, err := os.Stat(m.Source); err != nil {
			return api.InvalidField("hostMounts", "[%d]: source %q does not exist or cannot be read", i, m.Source)
		}
	}
	return nil
}

// start makes the sandbox. When it fails, or the caller has gone away in the
// meantime, nothing is left.
func (s *Server) start(ctx context.Context, o *order) (*sandbox, error) {
	plan, err := s.planNetwork(o.NewSandbox, o.grant)
	if err != nil {
		return nil, err
	}
	sb := &sandbox{
		fleet: s.fleet, template: o.template, alias: o.template.ID, metadata: o.Metadata, size: sizeOf(o.NewSandbox),
		mounts: len(o.HostMounts) > 0,
	}
	sb.secure(o)
	began := time.Now()
	id, started, err := s.obtain(ctx, sb, o, plan)
	if err != nil {
		return nil, err
	}
	sb.limits = limits(started.Limits())
	if err := s.enlist(id, sb, o, started); err != nil {
		return nil, err
	}
	s.log.Info("sandbox created", "sandbox", id, "template", o.template.ID, "took", time.Since(began))
	if ctx.Err() != nil {
		_ = s.fleet.Kill(sb.Sandbox)
		return nil, ctx.Err()
	}
	return sb, nil
}

// obtain gives the sandbox its box and its network: one that waits, or a new one.
func (s *Server) obtain(ctx context.Context, sb *sandbox, o *order, plan *networkPlan) (id string, b box, err error) {
	if r := s.claimReady(ctx, o, plan); r != nil {
		sb.net, sb.token = r.net, r.token
		return r.id, r.box, nil
	}
	id = api.NewID()
	var socket string
	if sb.net, socket, err = s.openNetwork(id, plan); err != nil {
		return id, nil, err
	}
	b, err = s.engine.Start(ctx, o.spec(id, sb.token, socket))
	if err != nil {
		sb.net.close()
		return id, nil, s.startFault(ctx, err)
	}
	return id, b, nil
}

// secure gives the sandbox its secrets.
func (s *sandbox) secure(o *order) {
	if o.secured {
		s.token = api.NewToken()
	}
	if !o.PublicTraffic() {
		s.traffic = api.NewToken()
	}
	if o.Network != nil {
		s.mask = o.Network.MaskRequestHost
	}
}

// enlist makes the sandbox known to the fleet and to the gateway.
func (s *Server) enlist(id string, sb *sandbox, o *order, b box) error {
	sb.transport = gateway.NewTransport(sb.dial)
	_, err := s.fleet.Add(fleet.Spec{
		ID: id, Lifetime: o.lifetime, Pauses: o.Pauses(), Resumes: o.Resumes(),
		Joined: func(member *fleet.Sandbox) {
			sb.Sandbox = member
			s.members.put(sb)
		},
		Left: func() {
			s.members.drop(id)
			sb.transport.CloseIdleConnections()
			sb.net.close()
			s.activity.touch()
		},
	}, b)
	return err
}

func (o *order) spec(id, token, socket string) isolation.Spec {
	spec := isolation.Spec{
		ID: id, Template: o.template.ID, Token: token, Envs: o.EnvVars,
		Internet: socket != "", Egress: socket,
	}
	if o.CPUCount != nil {
		spec.CPUs = *o.CPUCount
	}
	if o.MemoryMB != nil {
		spec.MemoryMB = int(*o.MemoryMB)
	}
	if o.DiskSizeMB != nil {
		spec.DiskMB = int(*o.DiskSizeMB)
	}
	for _, m := range o.HostMounts {
		spec.Mounts = append(spec.Mounts, isolation.Mount{Source: m.Source, Target: m.Target, Write: m.Write})
	}
	return spec
}

// startFault says why a sandbox could not be made.
func (s *Server) startFault(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return err
	}
	var unknown *isolation.UnknownTemplateError
	if errors.As(err, &unknown) {
		return s.templateNotFound(unknown.ID)
	}
	s.log.Error("sandbox could not be started", "error", err)
	fault := api.Faultf(http.StatusInternalServerError, "the sandbox could not be started: %v", err)
	fault.Slug = "sandbox_create_failed"
	return fault
}

//go:build linux

package local

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/egress"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/local/pool"
	"github.com/agent-sandbox/agent-sandbox/local/template"
)

// DefaultInterpreterPool is how many sandboxes with a warm interpreter are kept
// ready where nobody said.
const DefaultInterpreterPool = 2

// ready is a whole sandbox that is nobody's yet: its interpreter runs, and its
// network lets nothing through. Its id and its token were never anybody's, and
// its interpreter is a process of its own, with randomness of its own.
type ready struct {
	id, token string
	template  isolation.Template
	box       warmBox
	net       *network
}

// warmBox is a box that can be made before it is anybody's.
type warmBox interface {
	box
	Warm(ctx context.Context) error
	Claims(spec isolation.Spec) bool
	Claim(ctx context.Context, spec isolation.Spec) error
}

// newReady makes the pool. It is filled once the template has been used, or at
// once where its size was asked for.
func (s *Server) newReady() *pool.Pool[*ready] {
	size := s.opt.InterpreterPool
	if size == 0 {
		size = DefaultInterpreterPool
	}
	p := pool.New(pool.Options[*ready]{Size: size, Make: s.makeReady, Drop: s.dropReady, Fresh: s.freshReady, Log: s.log})
	if s.opt.InterpreterPool > 0 {
		p.Start()
	}
	return p
}

// makeReady makes one. Nothing is left of one that fails.
func (s *Server) makeReady(ctx context.Context) (*ready, error) {
	t, err := s.findTemplate(template.CodeInterpreter)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	r := &ready{id: api.NewID(), token: api.NewToken(), template: t, net: &network{}}
	if err := s.startReady(ctx, r); err != nil {
		s.dropReady(r)
		return nil, err
	}
	s.log.Info("sandbox made ready", "sandbox", r.id, "took", time.Since(began))
	return r, nil
}

func (s *Server) startReady(ctx context.Context, r *ready) (err error) {
	spec := isolation.Spec{ID: r.id, Template: r.template.ID, Token: r.token, Background: true}
	if s.opt.Internet {
		off := false
		if r.net.policy, err = s.egress.Open(s.sockets.address(r.id), egress.Rules{AllowInternet: &off}); err != nil {
			return err
		}
		spec.Internet, spec.Egress = true, s.sockets.path(r.id)
	}
	started, err := s.engine.Start(ctx, spec)
	if err != nil {
		return err
	}
	var ok bool
	if r.box, ok = started.(warmBox); !ok {
		return errors.Join(errors.ErrUnsupported, started.Kill())
	}
	return r.box.Warm(ctx)
}

// dropReady frees what there is of one.
func (s *Server) dropReady(r *ready) {
	if r.box != nil {
		_ = r.box.Kill()
	}
	r.net.close()
}

// freshReady tells whether one lives and its template is still the one of that
// name.
func (s *Server) freshReady(r *ready) bool {
	select {
	case <-r.box.Done():
		return false
	default:
	}
	t, err := s.findTemplate(template.CodeInterpreter)
	return err == nil && slices.Equal(t.Layers, r.template.Layers)
}

// claimReady gives a sandbox that waits to whoever ordered one like it; nil when
// there is none. Nothing is left of one that could not be claimed.
func (s *Server) claimReady(ctx context.Context, o *order, plan *networkPlan) *ready {
	if o.template.ID != template.CodeInterpreter {
		return nil
	}
	s.ready.Start()
	if !o.secured || len(o.HostMounts) > 0 || plan.open && !s.opt.Internet {
		return nil
	}
	r, ok := s.ready.Take()
	if !ok {
		return nil
	}
	spec := o.spec(r.id, r.token, "")
	spec.Internet = plan.open
	if !r.box.Claims(spec) {
		s.dropReady(r)
		return nil
	}
	if err := s.handOver(ctx, r, spec, plan); err != nil {
		s.log.Info("a sandbox that was ready could not be given away", "sandbox", r.id, "error", err)
		s.dropReady(r)
		return nil
	}
	return r
}

// handOver makes it what was ordered.
func (s *Server) handOver(ctx context.Context, r *ready, spec isolation.Spec, plan *networkPlan) error {
	r.net.wire, r.net.allow = plan.wire, plan.allow
	if plan.open {
		if err := r.net.policy.Update(plan.rules); err != nil {
			return err
		}
	} else {
		r.net.close()
		r.net.policy = nil
	}
	return r.box.Claim(ctx, spec)
}

// interpreterPool tells how many sandboxes are ready, for doctor.
func (s *Server) interpreterPool(w http.ResponseWriter, r *http.Request) error {
	if grantOf(r) != access.Owner {
		return api.Faultf(http.StatusForbidden, "the key of a page may not ask for this")
	}
	api.WriteJSON(w, http.StatusOK, s.ready.State())
	return nil
}

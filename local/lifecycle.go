//go:build linux

package local

import (
	"net/http"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/egress"
	"github.com/agent-sandbox/agent-sandbox/local/fleet"
)

// maxRefresh bounds one refresh (e2b.md 1.2).
const maxRefresh = 3600

// wish is the body of connect, resume, pause, timeout and refreshes.
type wish struct {
	Timeout  *int64 `json:"timeout"`
	Duration *int64 `json:"duration"`
	Memory   *bool  `json:"memory"`
}

func readWish(r *http.Request, optional bool) (*wish, error) {
	body, err := api.ReadBody(r)
	if err != nil {
		return nil, err
	}
	got := &wish{}
	return got, api.Decode(body, optional, got)
}

// withoutMemory reports whether the caller wants a sandbox that boots afresh,
// or is saved without its processes: this provider does neither.
func (g *wish) withoutMemory() bool { return g.Memory != nil && !*g.Memory }

func (s *Server) kill(w http.ResponseWriter, _ *http.Request, sb *sandbox) error {
	if err := s.fleet.Kill(sb.Sandbox); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) pause(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	got, err := readWish(r, true)
	if err != nil {
		return err
	}
	if got.withoutMemory() {
		return api.Unsupported("always keeps memory when it pauses")
	}
	if err := s.fleet.Pause(r.Context(), sb.Sandbox); err != nil {
		return err
	}
	sb.transport.CloseIdleConnections()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// connectV1 needs a timeout; 0 gives a running sandbox no more time.
func (s *Server) connectV1(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	got, err := readWish(r, false)
	if err != nil {
		return err
	}
	if got.Timeout == nil {
		return api.Invalid("timeout is missing")
	}
	d, err := api.Lifetime(got.Timeout, 0, false)
	if err != nil {
		return err
	}
	return s.connect(w, r, sb, got, d)
}

// connectV2 takes no timeout for 300 s, and 0 for no limit.
func (s *Server) connectV2(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	got, err := readWish(r, true)
	if err != nil {
		return err
	}
	d, err := api.Lifetime(got.Timeout, defaultLifetime, true)
	if err != nil {
		return err
	}
	return s.connect(w, r, sb, got, d)
}

func (s *Server) connect(w http.ResponseWriter, r *http.Request, sb *sandbox, got *wish, d time.Duration) error {
	if got.withoutMemory() && sb.State() == fleet.Paused {
		return api.Unsupported("cannot reboot a paused sandbox: connect without memory: false")
	}
	resumed, err := s.fleet.Connect(r.Context(), sb.Sandbox, d, true)
	if err != nil {
		return err
	}
	relieved, err := sb.relieve(r.Context())
	if err != nil {
		return err
	}
	status := http.StatusOK
	if resumed || relieved {
		status = http.StatusCreated
	}
	api.WriteJSON(w, status, sb.answer(domain(r)))
	return nil
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	got, err := readWish(r, true)
	if err != nil {
		return err
	}
	d, err := api.Lifetime(got.Timeout, defaultLifetimeOld, false)
	if err != nil {
		return err
	}
	if got.withoutMemory() {
		return api.Unsupported("cannot reboot a paused sandbox")
	}
	relieved, err := sb.relieve(r.Context())
	if err == nil && !relieved {
		err = s.fleet.Resume(r.Context(), sb.Sandbox, d)
	}
	if err != nil {
		return err
	}
	api.WriteJSON(w, http.StatusCreated, sb.answer(domain(r)))
	return nil
}

// timeoutV1 is E2B's: 0 ends the life now.
func (s *Server) timeoutV1(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	got, err := readTimeout(r)
	if err != nil {
		return err
	}
	if *got.Timeout == 0 {
		return s.endNow(w, r, sb)
	}
	return s.setLifetime(w, sb, got)
}

// timeoutV2 is ours: 0 is no limit.
func (s *Server) timeoutV2(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	got, err := readTimeout(r)
	if err != nil {
		return err
	}
	return s.setLifetime(w, sb, got)
}

func readTimeout(r *http.Request) (*wish, error) {
	got, err := readWish(r, false)
	if err == nil && got.Timeout == nil {
		err = api.Invalid("timeout is missing")
	}
	return got, err
}

func (s *Server) setLifetime(w http.ResponseWriter, sb *sandbox, got *wish) error {
	d, err := api.Lifetime(got.Timeout, 0, true)
	if err != nil {
		return err
	}
	if err := sb.SetLifetime(d); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// endNow does what the end of the lifetime would do.
func (s *Server) endNow(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	end := func() error { return s.fleet.Kill(sb.Sandbox) }
	if sb.Pauses() {
		end = func() error { return s.fleet.Pause(r.Context(), sb.Sandbox) }
	}
	if err := end(); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// refresh keeps a sandbox alive: it only ever extends.
func (s *Server) refresh(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	got, err := readWish(r, true)
	if err != nil {
		return err
	}
	d := defaultLifetimeOld
	if got.Duration != nil {
		if *got.Duration < 0 || *got.Duration > maxRefresh {
			return api.Invalid("duration must be from 0 to %d seconds", maxRefresh)
		}
		d = max(d, time.Duration(*got.Duration)*time.Second)
	}
	if err := sb.ExtendLifetime(d); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) updateNetwork(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	body, err := api.ReadBody(r)
	if err != nil {
		return err
	}
	update := &api.NetworkUpdate{}
	if err := api.Decode(body, false, update); err != nil {
		return err
	}
	if err := api.CheckEgress(update.DNSServers, update.EgressProxy); err != nil {
		return err
	}
	if state := sb.State(); state != fleet.Running {
		return &fleet.StateError{ID: sb.ID(), State: state}
	}
	mayReach := func(rules egress.Rules) error { return s.checkReach(rules, grantOf(r)) }
	if err := sb.net.update(update, mayReach); err != nil {
		return err
	}
	sb.Note("network rules changed")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

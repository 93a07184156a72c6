//go:build linux

package local

import (
	"net/http"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/fleet"
)

// domain is where clients find the sandboxes: names under it lead back to the
// address at which the client has just found the server.
func domain(r *http.Request) string {
	if _, port := access.SplitHost(r.Host); port != "" {
		return "localhost:" + port
	}
	return "localhost"
}

// answer is the sandbox as create and connect return it.
func (s *sandbox) answer(domain string) *api.Sandbox {
	return &api.Sandbox{
		SandboxID: s.ID(), TemplateID: s.template.ID, ClientID: api.ClientID, Alias: s.alias,
		EnvdVersion: api.EnvdVersion, EnvdAccessToken: s.token, TrafficAccessToken: s.traffic,
		Domain: domain, Isolation: api.Isolation, Limits: s.limits,
	}
}

// row is the sandbox as lists show it.
func (s *sandbox) row() api.ListedSandbox {
	end := s.EndAt()
	if end.IsZero() {
		end = api.Never()
	}
	return api.ListedSandbox{
		SandboxID: s.ID(), TemplateID: s.template.ID, ClientID: api.ClientID, Alias: s.alias,
		StartedAt: s.StartedAt().UTC(), EndAt: end.UTC(), State: stateName(s.State()),
		CPUCount: s.size.cpus, MemoryMB: s.size.memoryMB, DiskSizeMB: s.size.diskMB,
		EnvdVersion: api.EnvdVersion, Metadata: s.metadata, VolumeMounts: []api.VolumeMount{},
		Isolation: api.Isolation,
	}
}

func stateName(state fleet.State) string {
	if state.Awake() {
		return api.StateRunning
	}
	return api.StatePaused
}

func (s *Server) detail(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	if sb.State() == fleet.Killing {
		// Lists and the gateway no longer know it either.
		return api.NotFound(sb.ID(), "it is being killed")
	}
	wire, allow := sb.net.shown()
	end := "kill"
	if sb.Pauses() {
		end = "pause"
	}
	api.WriteJSON(w, http.StatusOK, &api.SandboxDetail{
		ListedSandbox: sb.row(), EnvdAccessToken: sb.token, Domain: domain(r),
		AllowInternetAccess: allow, Network: wire, Limits: sb.limits,
		Lifecycle: api.Lifecycle{OnTimeout: end, AutoResume: sb.Resumes()},
	})
	return nil
}

//go:build linux

package local

import (
	"net/http"

	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/fleet"
)

// routes are the endpoints of e2b.md 1.2 and 1.3.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, do := range map[string]action{
		"POST /sandboxes":        s.createV1,
		"POST /v2/sandboxes":     s.createV2,
		"GET /sandboxes":         s.listV1,
		"GET /v2/sandboxes":      s.listV2,
		"GET /sandboxes/metrics": s.metricsOfMany,

		"GET /sandboxes/{id}":             s.withSandbox(s.detail),
		"DELETE /sandboxes/{id}":          s.withSandbox(s.kill),
		"POST /sandboxes/{id}/connect":    s.withSandbox(s.connectV1),
		"POST /v2/sandboxes/{id}/connect": s.withSandbox(s.connectV2),
		"POST /sandboxes/{id}/resume":     s.withSandbox(s.resume),
		"POST /sandboxes/{id}/pause":      s.withSandbox(s.pause),
		"POST /sandboxes/{id}/timeout":    s.withSandbox(s.timeoutV1),
		"POST /v2/sandboxes/{id}/timeout": s.withSandbox(s.timeoutV2),
		"POST /sandboxes/{id}/refreshes":  s.withSandbox(s.refresh),
		"PUT /sandboxes/{id}/network":     s.withSandbox(s.updateNetwork),
		"GET /sandboxes/{id}/metrics":     s.withSandbox(s.metrics),
		"GET /sandboxes/{id}/logs":        s.withSandbox(s.logsV1),
		"GET /v2/sandboxes/{id}/logs":     s.withSandbox(s.logsV2),
		"GET /templates":                  s.listTemplates,
		"GET /v2/templates":               s.listTemplates,
		"GET /default-templates":          s.listTemplates,
		"GET /templates/aliases/{alias}":  s.templateAlias,
		"GET /templates/{id}":             s.templateDetail,
		"DELETE /templates/{id}":          s.deleteTemplate,
		"GET /interpreter-pool":           s.interpreterPool,
		"POST /page-keys":                 s.makePageKey,
		"POST /page-codes/new":            s.makePageCode,
		"POST /sandboxes/{id}/fork":       unsupported("does not fork sandboxes"),
		"POST /sandboxes/{id}/snapshots":  unsupported("does not take snapshots"),
		"GET /snapshots":                  unsupported("does not take snapshots"),
		"/volumes":                        unsupported("has no volumes"),
		"/volumes/":                       unsupported("has no volumes"),
		"/volumecontent/":                 unsupported("has no volumes"),
		"/secrets":                        unsupported("keeps no secrets"),
		"/secrets/":                       unsupported("keeps no secrets"),
		"/v3/templates":                   unsupported("does not build templates"),
		"/v2/templates/":                  unsupported("does not build templates"),
		"/templates/":                     unsupported("does not build templates"),
		"POST /templates":                 unsupported("does not build templates"),
		"/teams":                          unsupported("has no teams"),
		"/teams/":                         unsupported("has no teams"),
		"/api-keys":                       unsupported("has one API key, which it makes itself"),
		"/api-keys/":                      unsupported("has one API key, which it makes itself"),
		"/":                               unknownRoute,
	} {
		mux.HandleFunc(pattern, s.answer(do))
	}
	return mux
}

func unsupported(feature string) action {
	return func(http.ResponseWriter, *http.Request) error { return api.Unsupported(feature) }
}

func unknownRoute(_ http.ResponseWriter, r *http.Request) error {
	return api.Faultf(http.StatusNotFound, "there is no route %s %s", r.Method, r.URL.Path)
}

// withSandbox finds the sandbox that a route names.
func (s *Server) withSandbox(do func(http.ResponseWriter, *http.Request, *sandbox) error) action {
	return func(w http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("id")
		if !api.ValidID(id) {
			return api.NotFound(id, "")
		}
		if _, err := s.fleet.Get(id); err != nil {
			return err
		}
		sb := s.members.get(id)
		if sb == nil || !s.shows(r, sb) || (r.Method == http.MethodGet && sb.State() == fleet.Killing) {
			return s.fleet.Missing(id)
		}
		return do(w, r, sb)
	}
}

//go:build linux

package local

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/fleet"
	"github.com/agent-sandbox/agent-sandbox/local/gateway"
	"github.com/agent-sandbox/agent-sandbox/local/pages"
)

// Handler answers everything that comes to the server's one address: what
// belongs to a sandbox goes to the gateway, the rest is the control plane.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !access.LoopbackHost(r.Host) {
			api.WriteFault(w, api.Faultf(http.StatusForbidden, "this server answers to names of this machine only"))
			return
		}
		if gateway.Mine(r) {
			defer s.activity.begin()()
			s.gateway.ServeHTTP(w, r)
			return
		}
		s.control.ServeHTTP(w, r)
	})
}

// newControl makes the control plane: who may ask, then what was asked.
func (s *Server) newControl() http.Handler {
	routes := s.routes()
	exchange := s.answer(s.usePageCode)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.opt.Version != "" {
			w.Header().Set("Server", "sandboxc/"+s.opt.Version)
		}
		if !s.admitOrigin(w, r) {
			return
		}
		if r.URL.Path == "/health" {
			s.health(w, r)
			return
		}
		if r.URL.Path == "/favicon.ico" {
			// A browser asks for it by itself, without a key: there is none.
			w.WriteHeader(http.StatusNoContent)
			return
		}
		defer s.activity.begin()()
		switch {
		case r.URL.Path == pageCodesPath:
			exchange(w, r)
			return
		case strings.HasPrefix(r.URL.Path+"/", pages.Prefix):
			s.servePage(w, r)
			return
		}
		grant := s.keys.Check(r)
		if grant == access.Denied {
			api.WriteFault(w, api.Faultf(http.StatusUnauthorized, "%s", access.Refusal(r)))
			return
		}
		routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), grantKey{}, grant)))
	})
}

// admitOrigin turns pages of foreign origins away, without CORS headers, and
// answers the preflights of the others.
func (s *Server) admitOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin != "" && !s.origins.Allowed(origin) {
		api.WriteFault(w, api.Faultf(http.StatusForbidden, "pages of this origin may not use the server: allow it with --allow-origin"))
		return false
	}
	access.Allow(w.Header(), origin)
	if access.Preflight(r) {
		access.AnswerPreflight(w, r)
		return false
	}
	return true
}

// health says that the server lives, and proves that it is the one whose key
// the caller knows.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	if challenge := r.Header.Get("X-Challenge"); challenge != "" {
		w.Header().Set("X-Proof", s.keys.Prove(challenge))
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// grantKey is where a request's context holds its access.Grant.
type grantKey struct{}

func grantOf(r *http.Request) access.Grant {
	grant, _ := r.Context().Value(grantKey{}).(access.Grant)
	return grant
}

// action answers one request, or says why not.
type action func(http.ResponseWriter, *http.Request) error

// answer runs an action and writes its error.
func (s *Server) answer(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := do(w, r); err != nil {
			api.WriteFault(w, s.fault(r, err))
		}
	}
}

// fault puts any error into the API's words.
func (s *Server) fault(r *http.Request, err error) *api.Fault {
	var fault *api.Fault
	var missing *fleet.NotFoundError
	var state *fleet.StateError
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.As(err, &missing):
		return api.NotFound(missing.ID, missing.Fate)
	case errors.As(err, &state):
		return api.Faultf(http.StatusConflict, "%s", state.Error())
	case errors.Is(err, context.Canceled):
		return api.Faultf(statusClientGone, "the client went away")
	}
	s.log.Error("request failed", "method", r.Method, "route", r.Pattern, "error", err)
	return &api.Fault{Code: http.StatusInternalServerError, Message: err.Error(), Slug: "internal_server_error"}
}

// statusClientGone is written to nobody: the client has closed the connection.
const statusClientGone = 499

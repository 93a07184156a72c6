//go:build linux

package local

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/fleet"
)

func (s *Server) listV2(w http.ResponseWriter, r *http.Request) error {
	query, err := api.ParseListQuery(r.URL.Query())
	if err != nil {
		return err
	}
	found := s.match(r, query)
	w.Header().Set("X-Total-Running", strconv.Itoa(countRunning(found)))
	page, next := cut(found, query)
	if next != "" {
		w.Header().Set("X-Next-Token", next)
	}
	api.WriteJSON(w, http.StatusOK, rows(page))
	return nil
}

func (s *Server) listV1(w http.ResponseWriter, r *http.Request) error {
	query, err := api.ParseOldListQuery(r.URL.Query())
	if err != nil {
		return err
	}
	api.WriteJSON(w, http.StatusOK, rows(s.match(r, query)))
	return nil
}

// match returns the sandboxes that a query asks for, in its order, on all pages.
func (s *Server) match(r *http.Request, q *api.ListQuery) []*sandbox {
	var found []*sandbox
	for _, sb := range s.members.all() {
		if s.matches(sb, q) && s.shows(r, sb) {
			found = append(found, sb)
		}
	}
	slices.SortFunc(found, func(a, b *sandbox) int {
		order := a.StartedAt().Compare(b.StartedAt())
		if order == 0 {
			order = strings.Compare(a.ID(), b.ID())
		}
		if q.Ascending {
			return order
		}
		return -order
	})
	return found
}

func (s *Server) matches(sb *sandbox, q *api.ListQuery) bool {
	state := sb.State()
	if state == fleet.Killing || (state.Awake() && !q.Running) || (!state.Awake() && !q.Paused) {
		return false
	}
	if q.Template != "" && !named(sb.template, q.Template) {
		return false
	}
	if sb.StartedAt().Before(q.StartedAfter) {
		return false
	}
	for key, value := range q.Metadata {
		if have, known := sb.metadata[key]; !known || have != value {
			return false
		}
	}
	return true
}

func countRunning(found []*sandbox) int {
	running := 0
	for _, sb := range found {
		if sb.State().Awake() {
			running++
		}
	}
	return running
}

// cut returns the page that a query asks for, and the token of the next one, ""
// when it is the last.
func cut(found []*sandbox, q *api.ListQuery) (page []*sandbox, next string) {
	if q.After != nil {
		found = slices.DeleteFunc(found, func(sb *sandbox) bool {
			return q.After.Before(sb.StartedAt(), sb.ID())
		})
	}
	if len(found) <= q.Limit {
		return found, ""
	}
	last := found[q.Limit-1]
	cursor := api.Cursor{StartedAt: last.StartedAt(), SandboxID: last.ID(), Ascending: q.Ascending}
	return found[:q.Limit], cursor.Token()
}

func rows(found []*sandbox) []api.ListedSandbox {
	rows := make([]api.ListedSandbox, len(found))
	for i, sb := range found {
		rows[i] = sb.row()
	}
	return rows
}

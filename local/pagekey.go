//go:build linux

package local

import (
	"net/http"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
)

// makePageKey is ours: POST /page-keys {"origin"} answers {"key"}, so that a
// running server can be asked for what PageKey gives.
func (s *Server) makePageKey(w http.ResponseWriter, r *http.Request) error {
	if grantOf(r) != access.Owner {
		return api.Faultf(http.StatusForbidden, "only the server's own key may make page keys")
	}
	body, err := api.ReadBody(r)
	if err != nil {
		return err
	}
	var asked struct {
		Origin string `json:"origin"`
	}
	if err := api.Decode(body, false, &asked); err != nil {
		return err
	}
	key, err := s.PageKey(asked.Origin)
	if err != nil {
		return api.Invalid("%v", err)
	}
	api.WriteJSON(w, http.StatusCreated, map[string]string{"key": key})
	return nil
}

//go:build linux

package local

import (
	"errors"
	"net/http"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/pages"
)

// pageCodesPath is where a page that this server serves gets its key.
const pageCodesPath = "/page-codes"

// makePageCode is ours: POST /page-codes/new answers {"code", "expires_ms"} to
// the owner of the server, who puts the code into the fragment of a page's URL.
func (s *Server) makePageCode(w http.ResponseWriter, r *http.Request) error {
	if grantOf(r) != access.Owner {
		return api.Faultf(http.StatusForbidden, "only the server's own key may make page codes")
	}
	if s.pages == nil {
		return api.Faultf(http.StatusConflict, "this server serves no pages: start it with --pages DIR")
	}
	code, err := s.codes.New()
	if errors.Is(err, pages.ErrMany) {
		return api.Faultf(http.StatusTooManyRequests, "%v", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	api.WriteJSON(w, http.StatusCreated, map[string]any{"code": code, "expires_ms": pages.CodeClock.Milliseconds()})
	return nil
}

// usePageCode is ours: POST /page-codes {"code"} answers {"key"}, the page key
// of the server's own origin, to a page of that origin. No key is needed: the
// code is one.
func (s *Server) usePageCode(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		return api.Faultf(http.StatusMethodNotAllowed, "a code is exchanged with POST")
	}
	if !access.SameOrigin(r) {
		return api.Faultf(http.StatusForbidden, "codes are for pages that this server itself serves")
	}
	body, err := api.ReadBody(r)
	if err != nil {
		return err
	}
	var given struct {
		Code string `json:"code"`
	}
	if err := api.Decode(body, false, &given); err != nil {
		return err
	}
	if err := s.codes.Use(given.Code); err != nil {
		return api.Faultf(http.StatusUnauthorized, "%v; sandboxc page prints a new address", err)
	}
	key, err := s.PageKey(r.Header.Get("Origin"))
	if err != nil {
		return api.Invalid("%v", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	api.WriteJSON(w, http.StatusCreated, map[string]string{"key": key})
	return nil
}

// servePage answers with a file of the directory of pages.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if s.pages == nil {
		api.WriteFault(w, api.Faultf(http.StatusNotFound, "this server serves no pages: start it with --pages DIR"))
		return
	}
	s.pages.ServeHTTP(w, r)
}

// openPages opens the directory of pages; nil when there is none.
func openPages(dir string) (*pages.Directory, error) {
	if dir == "" {
		return nil, nil
	}
	return pages.Open(dir)
}

func closePages(d *pages.Directory) error {
	if d == nil {
		return nil
	}
	return d.Close()
}

package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
)

// Names of the headers that route and guard sandbox traffic.
const (
	headerID      = "E2b-Sandbox-Id"
	headerPort    = "E2b-Sandbox-Port"
	headerTraffic = "E2b-Traffic-Access-Token"
	headerAccess  = "X-Access-Token"
)

// route is where a request wants to go. An empty id means that only the
// signature in its URL says so.
type route struct {
	id   string
	port int
}

// Mine reports whether the gateway is to answer r: it carries a sandbox header,
// or its Host is a sandbox's name, or it is a signed URL without either. A
// browser's preflight carries no header of its own, but names them.
func Mine(r *http.Request) bool {
	if r.Header.Get(headerID) != "" || r.Header.Get(headerPort) != "" {
		return true
	}
	if name, _ := access.SplitHost(r.Host); strings.HasSuffix(name, ".localhost") && !access.ControlHost(r.Host) {
		return true
	}
	if access.Preflight(r) {
		asked := strings.ToLower(r.Header.Get("Access-Control-Request-Headers"))
		return strings.Contains(asked, "e2b-sandbox-") || r.URL.Path == filesPath
	}
	return signed(r)
}

// parseRoute reads where r wants to go. The name in Host counts more than the
// headers, which clients send in any case.
func parseRoute(r *http.Request) (route, *page) {
	name, _ := access.SplitHost(r.Host)
	label, rest, _ := strings.Cut(name, ".")
	if rest != "" && strings.HasSuffix(name, ".localhost") && label != "sandbox" && label != "api" {
		port, id, found := strings.Cut(label, "-")
		if !found {
			return route{}, plain(http.StatusBadRequest, "Invalid host")
		}
		id, _, _ = strings.Cut(id, "-")
		return newRoute(id, port)
	}
	id, port := r.Header.Get(headerID), r.Header.Get(headerPort)
	switch {
	case id == "" && port == "" && signed(r):
		return route{port: DaemonPort}, nil
	case id == "":
		return route{}, plain(http.StatusBadRequest, "missing header "+headerID)
	case port == "":
		return route{}, plain(http.StatusBadRequest, "missing header "+headerPort)
	}
	return newRoute(id, port)
}

func newRoute(id, port string) (route, *page) {
	if !api.ValidID(id) {
		return route{}, plain(http.StatusBadRequest, "Invalid sandbox ID")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return route{}, plain(http.StatusBadRequest, "Invalid sandbox port")
	}
	return route{id: id, port: int(n)}, nil
}

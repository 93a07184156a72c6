package access

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Origins is the list of web origins that may use the control plane from a
// page. The zero value allows the loopback origins only: http and https on
// localhost, 127.0.0.1 and [::1], any port. Names under .localhost are never
// among them, because the gateway serves under such names what a sandbox says,
// and that is hostile.
type Origins struct {
	mu    sync.RWMutex
	extra map[string]bool
}

// NewOrigins makes a list with the given origins besides the loopback ones. An
// entry that is no origin, or that is a sandbox's own, is an error.
func NewOrigins(allow []string) (*Origins, error) {
	o := &Origins{}
	for _, origin := range allow {
		if err := o.Add(origin); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Add allows one more origin.
func (o *Origins) Add(origin string) error {
	canonical, err := canonicalOrigin(origin)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.extra == nil {
		o.extra = map[string]bool{}
	}
	o.extra[canonical] = true
	return nil
}

// Allowed reports whether a page of the given origin may use the control plane.
func (o *Origins) Allowed(origin string) bool {
	canonical, err := canonicalOrigin(origin)
	if err != nil {
		return false
	}
	o.mu.RLock()
	listed := o.extra[canonical]
	o.mu.RUnlock()
	return listed || loopbackOrigin(canonical)
}

func loopbackOrigin(canonical string) bool {
	u, err := url.Parse(canonical)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && plainLoopback(u.Hostname())
}

// canonicalOrigin brings an origin into the one form in which origins are
// compared. "null", which sandboxed frames and files send, is an error: it is
// the origin of nobody in particular.
func canonicalOrigin(origin string) (string, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil ||
		(u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%q is not an origin: it must look like https://app.example or http://localhost:5173", origin)
	}
	if sandboxName(strings.ToLower(u.Hostname())) {
		return "", fmt.Errorf("%q is a name under which sandboxes are served, which no page may have", origin)
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); (scheme == "http" && port == "80") || (scheme == "https" && port == "443") {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return scheme + "://" + host, nil
}

func sandboxName(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, "."), ".localhost")
}

// ownOrigin is the origin of pages that come from the server itself, under the
// name by which r reached it.
func ownOrigin(r *http.Request) string { return "http://" + r.Host }

// SameOrigin reports whether r comes from a page of this server's own origin,
// at a plain name of this machine.
func SameOrigin(r *http.Request) bool {
	name, _ := SplitHost(r.Host)
	if !plainLoopback(name) {
		return false
	}
	own, err := canonicalOrigin(ownOrigin(r))
	from, err2 := canonicalOrigin(r.Header.Get("Origin"))
	return err == nil && err2 == nil && own == from
}

// originOf is the origin of the page that sent r; "" = no page. A browser does
// not name the origin in a GET to the page's own server, but says by
// Sec-Fetch-Site, which no page can set, that it is one.
func originOf(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		return origin
	}
	if r.Header.Get("Sec-Fetch-Site") == "same-origin" {
		return ownOrigin(r)
	}
	return ""
}

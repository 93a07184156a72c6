package gateway

import (
	"context"
	"errors"
	"log"
	"net/http"
	"path"

	"github.com/agent-sandbox/agent-sandbox/local/access"
)

// Gateway is the handler of sandbox traffic. Make it with New.
type Gateway struct {
	dir Directory
	log *log.Logger
	// small and large hold copy buffers.
	small, large *buffers
}

// New makes a gateway to the sandboxes of dir. errorLog gets what goes wrong
// in the middle of an answer; it holds no URL and no header.
func New(dir Directory, errorLog *log.Logger) *Gateway {
	return &Gateway{dir: dir, log: errorLog, small: newBuffers(smallBuffer), large: newBuffers(largeBuffer)}
}

// ServeHTTP carries one request, or says why not.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Where the connection cannot do it, request and answer take turns.
	_ = http.NewResponseController(w).EnableFullDuplex()
	in := watchIntake(r)
	to, target, fault := g.find(r)
	if fault == nil {
		fault = admit(r, to, target)
	}
	if fault == nil {
		g.proxy(w, r, to, target, in)
	} else {
		in.refuse(w.Header(), r)
		fault.write(w, r)
	}
	in.drain(w)
}

// find resolves the route of r to a sandbox.
func (g *Gateway) find(r *http.Request) (route, Target, *page) {
	to, fault := parseRoute(r)
	if fault != nil {
		return to, nil, fault
	}
	if to.id == "" {
		target := bySignature(r, g.dir.Targets())
		if target == nil {
			return to, nil, plain(http.StatusUnauthorized, "invalid signature")
		}
		to.id = target.ID()
		return to, target, nil
	}
	target := g.dir.Target(to.id)
	if target == nil {
		return to, nil, notFound(to.id)
	}
	return to, target, nil
}

// admit checks what the gateway itself guards, and that the sandbox runs.
func admit(r *http.Request, to route, target Target) *page {
	if to.port == DaemonPort && controlRoute(r.URL.Path) {
		return &page{Message: "The route is not reachable from outside", Path: r.URL.Path, Code: http.StatusNotFound}
	}
	if fault := checkTraffic(r, to, target); fault != nil {
		return fault
	}
	err := target.Enter(r.Context(), mayWake(r, to, target))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrPaused) && !probe(r, to):
		return &page{SandboxID: to.id, Message: "The sandbox is paused: resume it first", Code: http.StatusForbidden}
	case errors.Is(err, ErrFull):
		return &page{SandboxID: to.id, Message: textFull, Code: http.StatusInsufficientStorage}
	case errors.Is(err, ErrChanging):
		return &page{SandboxID: to.id, Message: "The sandbox is changing its state: try again", Code: http.StatusConflict}
	case errors.Is(err, context.Canceled):
		return plain(statusClientGone, "the client went away")
	default:
		return notFound(to.id)
	}
}

// statusClientGone is written to nobody: the client has closed the connection.
const statusClientGone = 499

// textFull says what helps: without it a client only ever sees silence.
const textFull = "The sandbox is over its disk limit and stands still: connect to it, which lets it go on for a second, " +
	"and delete files at once, or kill it"

// probe reports whether r is the question that E2B's clients ask to learn
// whether a sandbox runs: to them only a 502 means no. (One that stands still on a
// full disk says so: neither answer would be true.)
func probe(r *http.Request, to route) bool {
	return to.port == DaemonPort && r.URL.Path == "/health"
}

func checkTraffic(r *http.Request, to route, target Target) *page {
	want := target.TrafficToken()
	if want == "" || to.port == DaemonPort {
		return nil
	}
	given := r.Header.Get(headerTraffic)
	message := "Sandbox is secured with traffic access token. Token header 'e2b-traffic-access-token' is "
	switch {
	case given == "":
		return &page{SandboxID: to.id, Message: message + "missing", Code: http.StatusForbidden}
	case !access.Equal(given, want):
		return &page{SandboxID: to.id, Message: message + "invalid", Code: http.StatusForbidden}
	}
	return nil
}

// mayWake reports whether r is good enough to wake a paused sandbox: it holds
// what the daemon will ask for. Other ports were checked before.
func mayWake(r *http.Request, to route, target Target) bool {
	if access.Preflight(r) {
		return false
	}
	if to.port != DaemonPort || target.Token() == "" {
		return true
	}
	if access.Equal(r.Header.Get(headerAccess), target.Token()) {
		return true
	}
	return signed(r) && verify(r.Method, r.URL.Query(), target.Token())
}

// controlRoute reports whether a path of the daemon is for its own server only
// (e2b.md 2.3), however it is spelled.
func controlRoute(p string) bool {
	switch path.Clean("/" + p) {
	case "/init", "/freeze", "/unfreeze", "/collapse", "/fsfreeze", "/fsthaw", "/upgrade":
		return true
	}
	return false
}

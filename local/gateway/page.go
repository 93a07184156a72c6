package gateway

import (
	"bytes"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
)

// page is an answer of the gateway itself (e2b.md 2.3).
type page struct {
	SandboxID string `json:"sandboxId,omitempty"`
	Message   string `json:"message"`
	Port      int    `json:"port,omitempty"`
	Path      string `json:"path,omitempty"`
	Code      int    `json:"code"`
}

func plain(code int, message string) *page { return &page{Code: code, Message: message} }

func notFound(id string) *page {
	return &page{SandboxID: id, Message: "The sandbox was not found", Code: http.StatusBadGateway}
}

func portClosed(to route) *page {
	return &page{
		SandboxID: to.id, Port: to.port, Code: http.StatusBadGateway,
		Message: "The sandbox is running but port is not open",
	}
}

// write sends the page as HTML to a browser that navigates, and as JSON to
// everybody else. It carries CORS headers, so that a program in a page sees the
// status and not a network error.
func (p *page) write(w http.ResponseWriter, r *http.Request) {
	openToAll(w.Header())
	if access.Preflight(r) {
		answerPreflight(w, r)
		return
	}
	if !navigates(r) {
		api.WriteJSON(w, p.Code, p)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	h.Set("X-Content-Type-Options", "nosniff")
	var text bytes.Buffer
	if err := pageTemplate().Execute(&text, p); err != nil {
		w.WriteHeader(p.Code)
		return
	}
	h.Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(p.Code)
	// A client that has gone away is no business of the handler's.
	_, _ = w.Write(text.Bytes())
}

func pageTemplate() *template.Template {
	return template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{.Code}}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:34em;padding:0 1em}code{background:#8882}</style>
<h1>{{.Message}}</h1>
{{if .SandboxID}}<p>Sandbox <code>{{.SandboxID}}</code>{{if .Port}}, port <code>{{.Port}}</code>{{end}}</p>{{end}}
</html>
`))
}

// navigates reports whether a person's browser asks for a page (e2b.md 2.3).
func navigates(r *http.Request) bool {
	if r.Header.Get("X-Requested-With") != "" {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Mode") {
	case "cors", "no-cors", "same-origin", "websocket":
		return false
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// openToAll writes the CORS headers that the daemon itself writes: any origin,
// no credentials.
func openToAll(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "Location, Cache-Control, X-Content-Type-Options")
}

func answerPreflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "HEAD, GET, POST, PUT, PATCH, DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
}

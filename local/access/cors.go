package access

import (
	"net/http"
	"strings"
)

// requestHeaders is E2B's list (e2b.md 7) and what newer clients and our own
// send besides.
var requestHeaders = strings.Join([]string{
	"Origin", "Content-Length", "Content-Type", "User-Agent", "Authorization", "X-API-Key", "X-Team-ID",
	"browser", "lang", "lang_version", "machine", "os", "package_version", "processor", "publisher",
	"release", "sdk_runtime", "system", "Idempotency-Key", "X-Challenge",
}, ", ")

var exposedHeaders = strings.Join([]string{
	"X-Next-Token", "X-Total-Running", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Proof",
}, ", ")

// Allow writes the CORS headers of the control plane for a page of an allowed
// origin. Without an Origin it only marks the answer as one that varies.
func Allow(h http.Header, origin string) {
	h.Add("Vary", "Origin")
	if origin == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
}

// Preflight reports whether r is a browser's question before a request.
func Preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// AnswerPreflight answers it for an allowed origin, which may be a public site
// that asks for something on the user's own machine.
func AnswerPreflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS")
	h.Set("Access-Control-Allow-Headers", requestHeaders)
	h.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
}

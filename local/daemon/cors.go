package daemon

import "net/http"

// preflightAge is how many seconds a browser may remember a preflight (e2b.md 3.7).
const preflightAge = "7200"

// exposedHeaders are what a page may read of an answer, as envd lists them.
const exposedHeaders = "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, Location, Cache-Control, X-Content-Type-Options"

// allowOrigins lets any page in without credentials: what protects a sandbox is
// its token. It answers preflights itself, before any token is asked for.
func allowOrigins(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		asked := r.Header.Get("Access-Control-Request-Method")
		if r.Method == http.MethodOptions && asked != "" {
			answerPreflight(header, r, asked)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		header.Add("Vary", "Origin")
		if r.Header.Get("Origin") != "" {
			header.Set("Access-Control-Allow-Origin", "*")
			header.Set("Access-Control-Expose-Headers", exposedHeaders)
		}
		next.ServeHTTP(w, r)
	})
}

func answerPreflight(header http.Header, r *http.Request, method string) {
	header.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	if r.Header.Get("Origin") == "" || !allowedMethod(method) {
		return
	}
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Methods", method)
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		header.Set("Access-Control-Allow-Headers", asked)
	}
	header.Set("Access-Control-Max-Age", preflightAge)
}

func allowedMethod(method string) bool {
	switch method {
	case http.MethodHead, http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

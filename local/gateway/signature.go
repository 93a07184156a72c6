package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"

	"github.com/agent-sandbox/agent-sandbox/local/access"
)

const filesPath = "/files"

// signed reports whether r is a signed URL of the files route.
func signed(r *http.Request) bool {
	return r.URL.Path == filesPath && r.URL.Query().Has("signature")
}

// bySignature finds the sandbox whose token signed the URL of r. All are tried,
// whichever fits, so that the time tells nothing; nil = none.
func bySignature(r *http.Request, all []Target) Target {
	var found Target
	q := r.URL.Query()
	for _, t := range all {
		if t.Token() != "" && verify(r.Method, q, t.Token()) {
			found = t
		}
	}
	return found
}

// verify checks a signature as the daemon does (e2b.md 3.1), apart from its
// expiry, which the daemon answers for itself.
func verify(method string, q url.Values, token string) bool {
	return access.Equal(q.Get("signature"), signature(method, q, token))
}

func signature(method string, q url.Values, token string) string {
	operation := "read"
	if method == http.MethodPost {
		operation = "write"
	}
	text := q.Get("path") + ":" + operation + ":" + q.Get("username") + ":" + token
	if q.Has("signature_expiration") {
		text += ":" + q.Get("signature_expiration")
	}
	sum := sha256.Sum256([]byte(text))
	return "v1_" + base64.RawStdEncoding.EncodeToString(sum[:])
}

package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// Grant says what the bearer of a key may do.
type Grant int

// The grants, from none to all.
const (
	// Denied: no key, or a wrong one.
	Denied Grant = iota
	// Page: the key of one web origin. It may not reach into the host.
	Page
	// Owner: the server's own key.
	Owner
)

// Keys checks the credentials of requests to the control plane.
type Keys struct {
	owner []byte
	page  []byte
}

// NewKeys makes the checker for a server with the given API key.
func NewKeys(apiKey string) *Keys {
	// Page keys have a key of their own: the answer to a health challenge is an
	// HMAC under the API key over bytes that anybody may choose.
	page := sha256.Sum256([]byte("agent-sandbox page key\x00" + apiKey))
	return &Keys{owner: []byte(apiKey), page: page[:]}
}

// Prove answers a health challenge: the hex HMAC-SHA256 of it under the API key.
func (k *Keys) Prove(challenge string) string {
	return authenticate(k.owner, challenge)
}

// PageKey makes the key that is valid for pages of the given origin only.
func (k *Keys) PageKey(origin string) (string, error) {
	canonical, err := canonicalOrigin(origin)
	if err != nil {
		return "", err
	}
	return pagePrefix + authenticate(k.page, canonical), nil
}

// Check reports what the key of a request grants. The key is the header
// X-API-Key, or a bearer token. Time does not depend on how much of it is right.
func (k *Keys) Check(r *http.Request) Grant {
	given := keyOf(r)
	if given == "" {
		return Denied
	}
	if Equal(given, string(k.owner)) {
		return Owner
	}
	page, err := k.PageKey(originOf(r))
	if err == nil && Equal(given, page) {
		return Page
	}
	return Denied
}

// keyOf is the key that a request carries; "" = none.
func keyOf(r *http.Request) string {
	if given := r.Header.Get("X-API-Key"); given != "" {
		return given
	}
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return given
}

// Refusal says why a request whose key grants nothing is turned away. It shows
// nothing of the key.
func Refusal(r *http.Request) string {
	switch {
	case !strings.HasPrefix(keyOf(r), pagePrefix):
		return "the API key is missing or wrong"
	case originOf(r) == "":
		return "the key of a page works in pages of its own origin alone, and this is no request of a page: sandboxc env prints the server's own key"
	default:
		return "this page key is wrong, or belongs to pages of another origin than " + originOf(r) + ": sandboxc serve --page-key ORIGIN prints that of an origin"
	}
}

// pagePrefix begins every page key.
const pagePrefix = "page_"

// Equal compares two secrets in a time that tells nothing of their content or
// length.
func Equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

func authenticate(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

package daemon

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"time"

	"connectrpc.com/connect"
)

const tokenHeader = "X-Access-Token"

// The refusals of e2b.md 3.1, word for word.
const (
	textUnauthorized     = "unauthorized access, please provide a valid access token or method signing if supported"
	textTokenMismatch    = "access token present in header but does not match"
	textSignatureMissing = "missing signature query parameter"
	textSignatureBad     = "invalid signature"
	textSignatureExpired = "signature is already expired"
)

// authorize asks for the access token on every route but those that check a
// credential of their own or need none (e2b.md 3.1).
func (d *Daemon) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := d.defaults.token()
		if token != "" && !checksItself(r) && !sameSecret(r.Header.Get(tokenHeader), token) {
			refuse(w, http.StatusUnauthorized, textUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func checksItself(r *http.Request) bool {
	switch r.Method + " " + r.URL.Path {
	case "GET /health", "GET /files", "POST /files", "POST /init":
		return true
	}
	return false
}

// sameSecret compares in a time that depends on neither secret.
func sameSecret(a, b string) bool {
	left, right := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(left[:], right[:]) == 1
}

// authorizeFile checks the token or the signature of a /files request for
// operation "read" or "write". It returns the reason of a refusal, or "".
func (d *Daemon) authorizeFile(r *http.Request, operation string) string {
	token := d.defaults.token()
	if token == "" {
		return ""
	}
	if given := r.Header.Get(tokenHeader); given != "" {
		if sameSecret(given, token) {
			return ""
		}
		return textTokenMismatch
	}
	query := r.URL.Query()
	if !query.Has("signature") {
		return textSignatureMissing
	}
	expiry := query.Get("signature_expiration")
	want := signature(query.Get("path"), operation, query.Get("username"), token, expiry)
	if !sameSecret(query.Get("signature"), want) {
		return textSignatureBad
	}
	if expiry == "" {
		return ""
	}
	if until, err := strconv.ParseInt(expiry, 10, 64); err != nil || until < time.Now().Unix() {
		return textSignatureExpired
	}
	return ""
}

// signature is E2B's v1 signature over a file operation (e2b.md 3.1). expiry is
// decimal unix seconds, or empty for one that never ends.
func signature(path, operation, username, token, expiry string) string {
	text := path + ":" + operation + ":" + username + ":" + token
	if expiry != "" {
		text += ":" + expiry
	}
	sum := sha256.Sum256([]byte(text))
	return "v1_" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// rpcUser is the account that an RPC acts as: the Basic user name, else the default.
func (d *Daemon) rpcUser(header http.Header) (User, error) {
	r := http.Request{Header: header}
	name, _, _ := r.BasicAuth()
	user, err := d.lookup(name)
	if err != nil {
		return User{}, connect.NewError(connect.CodeUnauthenticated, err)
	}
	return user, nil
}

// lookup finds a user by name; "" is the default user.
func (d *Daemon) lookup(name string) (User, error) {
	if name == "" {
		name = d.defaults.user()
	}
	user, err := d.users.Lookup(name)
	if err != nil {
		d.log.Debug("unknown user", "user", name, "err", err)
		return User{}, errors.New("invalid username: '" + name + "'")
	}
	return user, nil
}

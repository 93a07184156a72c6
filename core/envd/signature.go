package envd

import (
	"encoding/base64"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/digest"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Signature signs one /files URL (e2b.md 3.1). expiration is unix seconds;
// nil = it never expires.
func Signature(path, operation, user, token string, expiration *int64) string {
	text := path + ":" + operation + ":" + user + ":" + token
	if expiration != nil {
		text += ":" + strconv.FormatInt(*expiration, 10)
	}
	sum := digest.SHA256([]byte(text))
	return "v1_" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// SignedURL is a URL that anyone may use to read (or write) path. It is signed
// whenever the sandbox has a token; expires 0 = it never expires.
func (c *Client) SignedURL(path, user string, write bool, expires time.Duration) (string, error) {
	base := c.cfg.Direct
	if base == "" {
		base = c.cfg.Base
	}
	user = c.userOr(user)
	q := query{{"username", user}, {"path", path}}
	switch {
	case c.cfg.AccessToken == "" && expires != 0:
		return "", fault.InvalidArgument("%s needs a sandbox that has an access token", fault.Option("expires_ms")).Suggest("leave %s out", fault.Option("expires_ms"))
	case expires < 0:
		return "", fault.InvalidArgument("%s must not be negative", fault.Option("expires_ms"))
	case c.cfg.AccessToken != "":
		q = append(q, c.sign(path, user, write, expires)...)
	}
	return base + "/files" + q.encode(), nil
}

func (c *Client) sign(path, user string, write bool, expires time.Duration) query {
	operation := "read"
	if write {
		operation = "write"
	}
	if expires == 0 {
		return query{{"signature", Signature(path, operation, user, c.cfg.AccessToken, nil)}}
	}
	at := c.cfg.Host.Now().Add(expires + time.Second - time.Nanosecond).Unix()
	return query{
		{"signature", Signature(path, operation, user, c.cfg.AccessToken, &at)},
		{"signature_expiration", strconv.FormatInt(at, 10)},
	}
}

package connect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Secrets are what a request carried and no error may show, even when the peer
// sends it back.
type Secrets [][]byte

// secretHeaders are the headers whose values are credentials.
var secretHeaders = []string{"x-api-key", "x-access-token", "e2b-traffic-access-token", "authorization"}

// shortestSecret keeps a value such as "a" from emptying every message.
const shortestSecret = 4

// SecretsOf finds the credentials among the headers of a request.
func SecretsOf(h transport.Header) Secrets {
	var s Secrets
	for _, f := range h {
		if slices.Contains(secretHeaders, strings.ToLower(f[0])) && len(f[1]) >= shortestSecret {
			s = append(s, []byte(f[1]))
		}
	}
	return s
}

// likeWords is up to which length a key of letters may be an ordinary word, which
// messages have for reasons of their own: it is hidden where it stands as a value,
// and not in the middle of a sentence.
const likeWords = 7

// hidden stands in the place of a secret.
const hidden = "***"

// Hide gives b without the secrets.
func (s Secrets) Hide(b []byte) []byte {
	for _, secret := range s {
		if len(secret) > likeWords || !isLetters(secret) {
			b = bytes.ReplaceAll(b, secret, []byte(hidden))
		} else if bytes.Contains(b, secret) {
			b = hideValues(b, secret)
		}
	}
	return b
}

func isLetters(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
}

// hideValues hides a short secret between quotes and as what a name is set to.
func hideValues(b, secret []byte) []byte {
	var out []byte
	for {
		at := bytes.Index(b, secret)
		if at < 0 {
			return append(out, b...)
		}
		end := at + len(secret)
		if isValue(b[:at], b[end:]) {
			out = append(append(out, b[:at]...), hidden...)
		} else {
			out = append(out, b[:end]...)
		}
		b = b[end:]
	}
}

func isValue(before, after []byte) bool {
	if len(before) == 0 {
		return len(after) == 0
	}
	switch last := before[len(before)-1]; last {
	case '"', '\'', '`':
		return len(after) == 0 || after[0] == last || after[0] == '\\'
	case '=', ':', '@', '/':
		return len(after) == 0 || !isWordByte(after[0])
	}
	return false
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}

// looked is how much of a message is looked at to show its beginning.
const looked = 4 << 10

// Breach says that b came where something else was expected.
func (s Secrets) Breach(expected string, b []byte) *Protocol {
	b = b[:min(len(b), looked)]
	// A broken answer may hold a token that nobody has been told yet.
	if bytes.Contains(bytes.ToLower(b), []byte("token")) {
		return &Protocol{Expected: expected, Got: "something else, not shown since it may hold a token"}
	}
	return &Protocol{Expected: expected, Got: firstBytes(s.Hide(b))}
}

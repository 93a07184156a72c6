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

// Hide gives b without the secrets.
func (s Secrets) Hide(b []byte) []byte {
	for _, secret := range s {
		b = bytes.ReplaceAll(b, secret, []byte("***"))
	}
	return b
}

// looked is how much of a message is looked at to show its beginning.
const looked = 4 << 10

// Breach says that b came where something else was expected.
func (s Secrets) Breach(expected string, b []byte) *Protocol {
	return &Protocol{Expected: expected, Got: firstBytes(s.Hide(b[:min(len(b), looked)]))}
}

package envd

import (
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/uri"
)

// query is an ordered list of parameters; empty values are left out. Values
// are percent-encoded once, byte for byte.
type query [][2]string

func (q query) encode() string {
	var b strings.Builder
	for _, p := range q {
		if p[1] == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteByte('?')
		} else {
			b.WriteByte('&')
		}
		b.WriteString(p[0] + "=" + uri.Escape(p[1]))
	}
	return b.String()
}

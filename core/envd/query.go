package envd

import (
	"net/url"
	"strings"
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
		b.WriteString(p[0] + "=" + strings.ReplaceAll(url.QueryEscape(p[1]), "+", "%20"))
	}
	return b.String()
}

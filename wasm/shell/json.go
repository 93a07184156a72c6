package shell

import (
	"strconv"
	"unicode/utf8"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// The JSON of the frames that every call needs is written without reflection,
// which takes most of a call's time otherwise.

const hex = "0123456789abcdef"

// appendString writes s as JSON does; broken UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
			i++
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			i++
		case c < utf8.RuneSelf:
			b = append(b, c)
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
		}
	}
	return append(b, '"')
}

func appendNumber(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

func appendBool(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

func appendHeader(b []byte, h transport.Header) []byte {
	b = append(b, '[')
	for i, f := range h {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = appendString(b, f[0])
		b = append(b, ',')
		b = appendString(b, f[1])
		b = append(b, ']')
	}
	return append(b, ']')
}

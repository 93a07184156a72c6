package shell

import (
	"strconv"

	"github.com/agent-sandbox/agent-sandbox/core/scan"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// The JSON of the frames that every call needs is written without reflection,
// which takes most of a call's time otherwise.

func appendString(b []byte, s string) []byte { return scan.AppendString(b, s) }

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

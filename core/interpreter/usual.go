package interpreter

import (
	"bytes"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// shapes are the lines of output as the two JSON writers of the services write
// them. There may be very many, so that they have a way of their own.
var shapes = []struct {
	before  string // the text
	after   string
	channel plane.Channel
}{
	{`{"type":"stdout","text":"`, `,"timestamp":"`, plane.Stdout},
	{`{"type": "stdout", "text": "`, `, "timestamp": "`, plane.Stdout},
	{`{"type":"stderr","text":"`, `,"timestamp":"`, plane.Stderr},
	{`{"type": "stderr", "text": "`, `, "timestamp": "`, plane.Stderr},
}

// usual takes a line of output that is at the beginning of b, whole and in one of
// the usual shapes; it does nothing for any other.
func (l *lines) usual(b []byte) (used int, err error) {
	const least, at = 30, len(`{"type":`) // the place where shapes differ
	if len(b) < least {
		return 0, nil
	}
	for i := range shapes {
		s := &shapes[i]
		if b[at] != s.before[at] || len(b) < len(s.before) || string(b[:len(s.before)]) != s.before {
			continue
		}
		t := text{plain: true}
		out, n, done, err := t.read(l.dst[:0], b[len(s.before):], pieceOfText)
		l.dst = out
		if err != nil || !done {
			return 0, nil //nolint:nilerr // the other way will say so
		}
		used = len(s.before) + n
		if n = rest(b[used:], s.after); n == 0 {
			return 0, nil
		}
		if len(out) > 0 {
			err = l.sink.Output(s.channel, out)
		}
		return used + n, err
	}
	return 0, nil
}

// rest is the length of what may follow the text: nothing more, or a time.
func rest(b []byte, after string) int {
	if len(b) > 0 && b[0] == '}' {
		return 1
	}
	if len(b) < len(after) || string(b[:len(after)]) != after {
		return 0
	}
	b = b[len(after):]
	n := bytes.IndexByte(b, '"')
	if n < 0 || n+1 >= len(b) || b[n+1] != '}' || plain(b[:n]) < n || bytes.IndexByte(b[:n], '\\') >= 0 {
		return 0
	}
	return len(after) + n + len(`"}`)
}

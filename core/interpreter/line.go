package interpreter

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// Kinds of lines (e2b.md 5).
const (
	lineStdout = "stdout"
	lineStderr = "stderr"
	lineResult = "result"
	lineError  = "error"
	lineCount  = "number_of_executions"
	lineEnd    = "end_of_execution"
)

const (
	// pieceOfText is how much of one message is kept before it is given on.
	pieceOfText = 1 << 20
	// pieceOfResult is how much of a result is given on at once.
	pieceOfResult = 64 << 10
	// mostKept is what a line may have before it says what it is, and an error.
	mostKept = 64 << 20
)

var errLongLine = errors.New("a line that says too late what it is")

// lines reads the answer of /execute: one JSON object after another. Its memory
// does not grow with the size of output and results.
type lines struct {
	object

	sink   plane.CodeSink
	kind   string // of this line; "" = not known yet
	known  bool   // kind was said
	wide   bool   // the value under way is the kind
	early  []byte // members that came before the kind, and those of small lines
	given  bool   // the result under way has begun
	ended  bool   // end_of_execution came
	raised bool   // an error came
	spoken string // what a line without a kind said: the service's own error
}

func newLines(sink plane.CodeSink) *lines {
	l := &lines{sink: sink}
	l.object.owner, l.room = l, mostKept
	return l
}

// push takes a piece of the stream. used is how far it was read before an error.
func (l *lines) push(b []byte) (used int, err error) {
	for used < len(b) {
		n := 0
		if l.at == between {
			if space(b[used]) {
				used++
				continue
			}
			n, err = l.usual(b[used:])
		}
		if n == 0 && err == nil {
			n, err = l.one(b[used:])
		}
		if used += n; err != nil {
			return used, err
		}
	}
	return used, nil
}

func (l *lines) begin() {
	l.kind, l.known, l.given, l.early, l.dst, l.room = "", false, false, l.early[:0], l.dst[:0], mostKept
}

func (l *lines) channel() plane.Channel {
	if l.kind == lineStderr {
		return plane.Stderr
	}
	return plane.Stdout
}

// small tells whether the line is read as a whole.
func (l *lines) small() bool { return !l.known || l.kind == lineError || l.kind == lineCount }

// member: members of a small line, and those before the kind, are kept.
func (l *lines) member(key []byte) (fate, error) {
	name := string(key)
	if name == "type" && !l.known {
		l.wide = true
		l.early, l.dst = l.dst, l.early[:0] // the kind is read apart
		return unquoted, nil
	}
	switch {
	case name == "type":
	case l.small() || l.kind == lineResult:
		if len(l.dst) == 0 && !l.given {
			l.dst = append(l.dst, '{')
		} else {
			l.dst = append(l.dst, ',')
		}
		l.given = true
		l.dst = append(appendKey(l.dst, name), ':')
		return copied, nil
	case name == "text" && (l.kind == lineStdout || l.kind == lineStderr):
		return unquoted, nil
	}
	return skipped, nil
}

func appendKey(b []byte, key string) []byte {
	quoted, err := json.Marshal(key)
	if err != nil {
		return append(b, `""`...)
	}
	return append(b, quoted...)
}

func (l *lines) full(dst []byte) ([]byte, error) {
	switch {
	case l.wide || l.small():
		return dst, errLongLine
	case l.kind == lineResult:
		return dst[:0], l.sink.Result(dst, false)
	}
	cut := wholeCharacters(dst)
	err := l.sink.Output(l.channel(), dst[:cut])
	return append(dst[:0], dst[cut:]...), err
}

// wholeCharacters is the length of b without the beginning of a character at its
// end.
func wholeCharacters(b []byte) int {
	for n := 1; n < utf8.UTFMax && n < len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(b[len(b)-n:]) {
				break
			}
			return len(b) - n
		}
	}
	return len(b)
}

// value: when the kind is known, so is what becomes of the rest.
func (l *lines) value() error {
	if !l.wide {
		return nil
	}
	l.wide, l.known = false, true
	l.kind = string(l.dst)
	l.early, l.dst = l.dst[:0], l.early
	switch l.kind {
	case lineStdout, lineStderr:
		l.room = pieceOfText
		if l.given {
			return l.earlyText()
		}
	case lineResult:
		l.room = pieceOfResult
	}
	return nil
}

// earlyText gives the text that came before the kind.
func (l *lines) earlyText() error {
	var m struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(append(l.dst, '}'), &m)
	l.dst = l.dst[:0]
	if err != nil || m.Text == "" {
		return nil //nolint:nilerr // a text that is none is no output
	}
	return l.sink.Output(l.channel(), []byte(m.Text))
}

func (l *lines) end() error {
	switch l.kind {
	case lineStdout, lineStderr:
		if len(l.dst) > 0 {
			return l.sink.Output(l.channel(), l.dst)
		}
	case lineResult:
		if !l.given {
			l.dst = append(l.dst, '{')
		}
		return l.sink.Result(append(l.dst, '}'), true)
	case lineEnd:
		l.ended = true
	case lineCount:
		return l.count()
	case lineError:
		return l.raise()
	case "":
		l.spoken = said(l.whole())
	}
	return nil
}

// whole is the line as far as it was kept.
func (l *lines) whole() []byte {
	if !l.given {
		return []byte("{}")
	}
	l.dst = append(l.dst, '}')
	return l.dst
}

func (l *lines) count() error {
	var m struct {
		Count json.Number `json:"execution_count"`
	}
	if json.Unmarshal(l.whole(), &m) != nil {
		return nil // a count that is none
	}
	n, err := m.Count.Int64()
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	return l.sink.Counted(n)
}

// raise reads an error in either shape: name, value, traceback as text, or as
// Jupyter has it: ename, evalue, traceback as a list; in the line or below "error".
func (l *lines) raise() error {
	l.raised = true
	var m struct {
		shape
		Error json.RawMessage `json:"error"`
	}
	line := l.whole()
	_ = json.Unmarshal(line, &m)
	e := m.error()
	var below shape
	if json.Unmarshal(m.Error, &below) == nil {
		e = below.error()
	}
	if *e == (plane.CodeError{}) {
		e.Name, e.Value = "Error", said(line)
	}
	return l.sink.Raised(e)
}

// shape is an error in either spelling.
type shape struct {
	Name      lenient `json:"name"`
	Value     lenient `json:"value"`
	EName     lenient `json:"ename"`
	EValue    lenient `json:"evalue"`
	Traceback lenient `json:"traceback"`
}

func (s *shape) error() *plane.CodeError {
	e := &plane.CodeError{Name: string(s.Name), Value: string(s.Value), Traceback: string(s.Traceback)}
	if e.Name == "" {
		e.Name = string(s.EName)
	}
	if e.Value == "" {
		e.Value = string(s.EValue)
	}
	return e
}

// lenient is a text, or a list of them, or whatever else as JSON.
type lenient string

// UnmarshalJSON never fails.
func (t *lenient) UnmarshalJSON(b []byte) error {
	var s string
	var list []string
	switch {
	case json.Unmarshal(b, &s) == nil:
		*t = lenient(s)
	case json.Unmarshal(b, &list) == nil:
		*t = lenient(strings.Join(list, "\n"))
	default:
		*t = lenient(b)
	}
	return nil
}

// said finds the words of a service in a JSON object that is no event.
func said(b []byte) string {
	var m struct {
		Message lenient `json:"message"`
		Detail  lenient `json:"detail"`
		Error   lenient `json:"error"`
	}
	if json.Unmarshal(b, &m) != nil {
		return ""
	}
	for _, words := range []lenient{m.Message, m.Detail, m.Error} {
		if words != "" {
			return string(words)
		}
	}
	return ""
}

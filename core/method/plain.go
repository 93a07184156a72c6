package method

import (
	"strconv"

	"github.com/agent-sandbox/agent-sandbox/core/scan"
)

// The parameters and results of commands are read and written without reflection:
// they are most of what is called.

func (p *CommandOptions) scan(t scan.Text) bool {
	if t.Object(p.field) && t.End() {
		return true
	}
	*p = CommandOptions{}
	return false
}

func (p *CommandOptions) field(key string, t *scan.Text) (ok bool) {
	switch key {
	case "command":
		p.Command, ok = t.String()
	case "cwd":
		p.Cwd, ok = t.String()
	case "user":
		p.User, ok = t.String()
	case "tag":
		p.Tag, ok = t.String()
	case "stdin":
		p.Stdin, ok = t.Bool()
	case "check":
		p.Check, ok = t.Bool()
	case "timeout_ms":
		p.TimeoutMS, ok = number(t)
	case "idle_timeout_ms":
		p.IdleTimeoutMS, ok = number(t)
	case "request_timeout_ms":
		p.RequestTimeoutMS, ok = number(t)
	}
	return ok
}

func number(t *scan.Text) (*int64, bool) {
	n, ok := t.Int()
	return &n, ok
}

// AppendJSON writes what encoding/json would, but for how it escapes.
func (e *CommandEnd) AppendJSON(b []byte) []byte {
	if e == nil {
		return append(b, "null"...)
	}
	b = strconv.AppendInt(append(b, `{"exit_code":`...), int64(e.ExitCode), 10)
	if e.Signal != "" {
		b = scan.AppendString(append(b, `,"signal":`...), e.Signal)
	}
	if e.Error != "" {
		b = scan.AppendString(append(b, `,"error":`...), e.Error)
	}
	b = strconv.AppendInt(append(b, `,"execution_time_ms":`...), e.ExecutionTimeMS, 10)
	return append(b, '}')
}

// AppendJSON writes what encoding/json would.
func (s started) AppendJSON(b []byte) []byte {
	return append(strconv.AppendUint(append(b, `{"pid":`...), uint64(s.PID), 10), '}')
}

package jupyter

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// Pieces in which text and results are given on.
const (
	pieceOfText   = 1 << 20
	pieceOfResult = 64 << 10
)

// teller gives the messages about one run to a sink.
type teller struct {
	sink    plane.CodeSink
	failed  error // of the sink itself
	begun   bool
	counted bool
	raised  bool
	idle    bool
	replied atomic.Bool
}

// take tells whether the run has ended: with both its reply and the kernel's idle
// state, which come on channels of their own.
func (t *teller) take(m *message) (ended bool, err error) {
	switch m.Header.Type {
	case "status":
		switch stateOf(m.Content) {
		case "busy":
			t.begun = true
		case "idle":
			t.idle = true
		}
	case "execute_reply":
		err = t.reply(m.Content)
	case "execute_input":
		err = t.count(m.Content)
	case "stream":
		err = t.stream(m.Content)
	case "execute_result":
		err = t.display(m.Content, true, false)
	case "display_data":
		err = t.display(m.Content, false, false)
	case "update_display_data":
		err = t.display(m.Content, false, true)
	case "error":
		err = t.mishap(m.Content)
	default:
		return false, nil
	}
	if err == nil {
		err = t.note(t.sink.Pause())
	}
	return t.replied.Load() && t.idle, err
}

func (t *teller) note(err error) error {
	if err != nil {
		t.failed = err
	}
	return err
}

func (t *teller) raise(e *plane.CodeError) error {
	t.raised = true
	return t.note(t.sink.Raised(e))
}

func (t *teller) count(content json.RawMessage) error {
	var m struct {
		Count *int64 `json:"execution_count"`
	}
	if json.Unmarshal(content, &m) != nil || m.Count == nil || t.counted {
		return nil
	}
	t.counted = true
	return t.note(t.sink.Counted(*m.Count))
}

func (t *teller) stream(content json.RawMessage) error {
	var m struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &m) != nil || m.Text == "" {
		return nil
	}
	channel := plane.Stdout
	if m.Name == "stderr" {
		channel = plane.Stderr
	}
	// A sink may write behind what it gets.
	for rest := []byte(m.Text); len(rest) > 0; {
		n := len(rest)
		if n > pieceOfText {
			for n = pieceOfText; n > pieceOfText-utf8.UTFMax && !utf8.RuneStart(rest[n]); n-- {
			}
		}
		if err := t.note(t.sink.Output(channel, rest[:n:n])); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (t *teller) display(content json.RawMessage, main, update bool) error {
	var d display
	if json.Unmarshal(content, &d) != nil {
		return nil
	}
	for b := d.object(main, update); len(b) > 0; {
		n := min(len(b), pieceOfResult)
		if err := t.note(t.sink.Result(b[:n:n], n == len(b))); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// mishap is an error of the code, in an error message or a reply.
func (t *teller) mishap(content json.RawMessage) error {
	var m struct {
		Name      string   `json:"ename"`
		Value     string   `json:"evalue"`
		Traceback []string `json:"traceback"`
	}
	_ = json.Unmarshal(content, &m)
	return t.raise(&plane.CodeError{Name: m.Name, Value: m.Value, Traceback: strings.Join(m.Traceback, "\n")})
}

// reply ends the run. Some kernels say only here what went wrong.
func (t *teller) reply(content json.RawMessage) error {
	t.replied.Store(true)
	var m struct {
		Status string `json:"status"`
	}
	_ = json.Unmarshal(content, &m)
	if err := t.count(content); err != nil {
		return err
	}
	switch {
	case t.raised:
	case m.Status == "error":
		return t.mishap(content)
	case m.Status == "aborted" || m.Status == "abort":
		t.idle = true
		return t.raise(&plane.CodeError{Name: "ExecutionAborted", Value: "the kernel dropped the code: what ran before it failed"})
	}
	return nil
}

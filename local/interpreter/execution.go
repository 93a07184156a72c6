package interpreter

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/local/interpreter/jupyter"
)

// execution is one run of code in a context.
type execution struct {
	id   string
	code json.RawMessage
	envs map[string]string
	out  *output

	once sync.Once
	// turn is closed when it may run.
	turn chan struct{}
	// stop is closed when somebody wants it to end early, done when it has ended
	// and its context may be used again.
	stop, done chan struct{}
	// failed is set when an error was told.
	failed bool
}

func newExecution(code json.RawMessage, envs map[string]string) *execution {
	return &execution{id: newID(), code: code, envs: envs, turn: make(chan struct{}), stop: make(chan struct{}), done: make(chan struct{})}
}

// interrupt ends it early, whether it runs or waits.
func (x *execution) interrupt() { x.once.Do(func() { close(x.stop) }) }

func (x *execution) stopped() bool {
	select {
	case <-x.stop:
		return true
	default:
		return false
	}
}

// fail tells the client an error, if it was not told one.
func (x *execution) fail(name, value, traceback string) {
	if !x.failed {
		x.failed = true
		x.out.write(errorLine(name, value, traceback), true)
	}
}

// neverBegan ends the stream of one that was stopped before.
func (x *execution) neverBegan() {
	x.fail("KeyboardInterrupt", "the execution was interrupted before it began", "")
	x.out.finish()
}

// take passes on what the kernel publishes.
func (x *execution) take(m *jupyter.Message, more bool) {
	if line := x.line(m); line != nil {
		x.out.write(line, more)
	} else if !more {
		x.out.write(nil, false)
	}
}

// line is a message as the client gets it, nil = not at all.
func (x *execution) line(m *jupyter.Message) []byte {
	switch m.Type {
	case "stream":
		return streamOf(m)
	case "execute_result", "display_data", "update_display_data":
		var d display
		if m.Decode(&d) != nil || len(d.Data) == 0 {
			return nil
		}
		return resultLine(&d, m.Type == "execute_result", m.Type == "update_display_data")
	case "error":
		var e reply
		if m.Decode(&e) != nil || x.failed {
			return nil
		}
		x.failed = true
		return errorLine(e.Name, e.Value, strings.Join(e.Traceback, "\n"))
	case "execute_input":
		var in struct {
			Count json.Number `json:"execution_count"`
		}
		if m.Decode(&in) != nil || in.Count == "" {
			return nil
		}
		return []byte(`{"type":"number_of_executions","execution_count":` + in.Count.String() + "}\n")
	case "clear_output":
		var c struct {
			Wait bool `json:"wait"`
		}
		if m.Decode(&c) == nil && c.Wait {
			return []byte(`{"type":"clear_output","wait":true}` + "\n")
		}
		return []byte(`{"type":"clear_output","wait":false}` + "\n")
	}
	return nil
}

// answered uses what the kernel answered at the end: an error that it did not
// publish, and the page that a question like `len?` opens.
func (x *execution) answered(m *jupyter.Message) {
	var r reply
	if m == nil || m.Decode(&r) != nil {
		return
	}
	switch r.Status {
	case "error":
		x.fail(r.Name, r.Value, strings.Join(r.Traceback, "\n"))
	case "aborted", "abort":
		x.fail("ExecutionAborted", "the kernel did not run the code", "")
	}
	for _, p := range r.Payload {
		if p.Source == "page" && len(p.Data) > 0 {
			x.out.write(resultLine(&display{Data: p.Data}, false, false), true)
		}
	}
}

// died tells the client that there will be no more, and why.
func (x *execution) died(err error, language string) {
	var death *deathError
	switch {
	case errors.As(err, &death):
		value := death.reason + "; the next run starts a new " + language + " kernel, without variables"
		x.fail("KernelDied", value, strings.TrimSpace("KernelDied: "+value+"\n"+death.said))
	case errors.Is(err, errRestarting):
		x.fail("ContextRestarting", "the context was restarted", "")
	case errors.Is(err, errRemoved):
		x.fail("ContextRemoved", "the context was removed", "")
	default:
		x.fail("KernelDied", err.Error(), "")
	}
}

// Why a kernel is ended on purpose.
var (
	errRestarting       = errors.New("the context is being restarted")
	errRemoved          = errors.New("the context was removed")
	errClosing          = errors.New("the sandbox is stopping")
	errStuck      error = &deathError{reason: "the kernel did not stop its work when it was asked to"}
)

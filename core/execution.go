package core

import (
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// Execution is what one run of code gave.
type Execution struct {
	Results []*Result  `json:"results"` // of display calls, and of the last line
	Logs    Logs       `json:"logs"`
	Error   *CodeError `json:"error,omitempty"` // nil = the code raised none
	// Count is the number of the execution in its context; 0 = the service did not
	// say.
	Count int64 `json:"execution_count,omitempty"`
}

// Logs are what the code printed, message by message. A message of more than a
// mebibyte comes in several pieces.
type Logs struct {
	Stdout []string `json:"stdout"`
	Stderr []string `json:"stderr"`
}

// OutputMessage is one piece of what the code printed.
type OutputMessage struct {
	Line      string    // whole characters; it need not be one line
	Timestamp time.Time // when it came here
	Error     bool      // it is stderr's
}

// Text is the text of the main result, the value of the last line; "" when there
// is none.
func (e *Execution) Text() string {
	for _, r := range e.Results {
		if r.IsMainResult {
			return r.Text
		}
	}
	return ""
}

// gatherer keeps what code gives, and calls back.
type gatherer struct {
	o         *CodeOptions
	now       func() time.Time
	execution *Execution
	object    blocks // the result under way
}

func (g *gatherer) Counted(n int64) error {
	g.execution.Count = n
	return nil
}

func (g *gatherer) Output(ch plane.Channel, text []byte) error {
	m := OutputMessage{Line: toText(text), Error: ch == plane.Stderr}
	keep, tell := &g.execution.Logs.Stdout, g.o.OnStdout
	if m.Error {
		keep, tell = &g.execution.Logs.Stderr, g.o.OnStderr
	}
	*keep = append(*keep, m.Line)
	if tell != nil {
		m.Timestamp = g.now()
		tell(m)
	}
	return nil
}

func (g *gatherer) Result(piece []byte, last bool) error {
	g.object.write(piece)
	if !last {
		return nil
	}
	r, err := ReadResult(g.object.join())
	if err != nil {
		return err
	}
	g.execution.Results = append(g.execution.Results, r)
	if g.o.OnResult != nil {
		g.o.OnResult(r)
	}
	return nil
}

// Pause: nothing is held back.
func (g *gatherer) Pause() error { return nil }

func (g *gatherer) Raised(e *CodeError) error {
	g.execution.Error = e
	if g.o.OnError != nil {
		g.o.OnError(e)
	}
	return nil
}

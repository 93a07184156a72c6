package interpreter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// What our own service says of a run in the head of its answer: enough to stop
// this run, and no other.
const (
	headerContext   = "x-context-id"
	headerExecution = "x-execution-id"
)

// patience is how long an interrupted context may take to be usable again.
const patience = 2 * time.Second

// cleanup is the clock of what may still be done after a cancel or timeout.
const cleanup = 5 * time.Second

// Verdict is what is known of a context after an interrupt.
type Verdict int

// The verdicts.
const (
	Unknown Verdict = iota
	Free            // it can be used again
	Busy            // it took no notice
	Waited          // it runs other code: ours had not begun, and never will
	Queued          // it runs other code: ours had not begun, and cannot be taken back
)

// stop ends the run. Every service interrupts code whose caller hangs up, if it
// notices; ours is also told, and says when the context is usable. Where wait is
// true, another one is asked to run nothing, which tells the same.
func (x *execution) stop(ctx context.Context, wait bool) Verdict {
	if x.resp != nil {
		x.resp.Body.Close()
	}
	detached, disarm := x.c.cfg.Host.Detached(ctx, cleanup)
	defer disarm()
	if v := x.interrupt(detached); v != Unknown || !wait {
		return v
	}
	return x.probe(detached)
}

// interruption is the answer of POST /contexts/{id}/interrupt.
type interruption struct {
	Interrupted bool `json:"interrupted"`
	Busy        bool `json:"busy"`
	Waited      bool `json:"waited"`
}

// interrupted reads it. A service that says nothing has done what was asked.
func interrupted(answer []byte) interruption {
	i := interruption{Interrupted: true}
	_ = json.Unmarshal(answer, &i)
	return i
}

func (x *execution) interrupt(ctx context.Context) Verdict {
	if x.resp == nil {
		return Unknown
	}
	id, run := x.resp.Header.Get(headerContext), x.resp.Header.Get(headerExecution)
	if id == "" || run == "" {
		return Unknown
	}
	body, err := json.Marshal(map[string]string{"execution_id": run})
	if err != nil {
		return Unknown
	}
	answer, err := x.c.once(ctx, x.c.request("POST", contextPath(id)+"/interrupt", body), 2*patience)
	if err != nil {
		return Unknown
	}
	switch done := interrupted(answer); {
	case done.Busy:
		return Busy
	case done.Waited:
		return Waited
	}
	return Free
}

// probe runs nothing in the same context: it answers once the context is idle.
func (x *execution) probe(ctx context.Context) Verdict {
	limited, _, disarm := x.c.cfg.Host.Limit(ctx, transport.ClockRequest, patience)
	defer disarm()
	nothing := plane.CodeSpec{ContextID: x.spec.ContextID, Language: x.spec.Language}
	p := &execution{c: x.c, spec: nothing, ctx: limited, alive: func() {}, sink: &heard{CodeSink: deaf{}}, disarm: func() {}}
	defer func() { p.disarm() }()
	if p.open() == nil {
		defer p.resp.Body.Close()
		_ = p.read()
	}
	switch {
	case p.lines != nil && p.lines.ended:
		return Free
	case limited.Err() != nil && ctx.Err() == nil:
		return Busy
	}
	return Unknown
}

// deaf is a sink that wants nothing.
type deaf struct{}

func (deaf) Counted(int64) error                { return nil }
func (deaf) Output(plane.Channel, []byte) error { return nil }
func (deaf) Result([]byte, bool) error          { return nil }
func (deaf) Raised(*plane.CodeError) error      { return nil }
func (deaf) Pause() error                       { return nil }

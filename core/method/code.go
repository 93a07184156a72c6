package method

import (
	"context"
	"encoding/binary"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// Code is the shape of running code.
const Code Shape = "code" // output and results of code, and its end as the result

// SandboxRunCode runs code in an interpreter inside the sandbox, where what it
// defines stays for the next run, and waits for its end. Code that raises an error
// is a result. A cancel interrupts it. Errors: E3001 when it ran too long and was
// interrupted, E3003 when the interpreter could not run it, E3005 connection lost,
// with what came so far.
type SandboxRunCode struct {
	Code             string            `json:"code" arg:"1"`                 // what to run
	Language         string            `json:"language,omitempty"`           // python, javascript, typescript, bash, r, java or the name of a kernel; default: python
	ContextID        string            `json:"context_id,omitempty"`         // where to run it; default: the default context of the language, which this excludes
	Envs             map[string]string `json:"envs,omitempty"`               // for this run, over those of the context
	TimeoutMS        *int64            `json:"timeout_ms,omitempty"`         // how long the code may run; 0 = no limit; default: 300 s
	IdleTimeoutMS    *int64            `json:"idle_timeout_ms,omitempty"`    // how long the sandbox may show no sign of life; code that prints nothing is fine; 0 = no limit
	RequestTimeoutMS *int64            `json:"request_timeout_ms,omitempty"` // how long the service may take to accept the code; 0 = no limit
}

func (p *SandboxRunCode) options() core.CodeOptions {
	return core.CodeOptions{
		Language: p.Language, ContextID: p.ContextID, Envs: p.Envs,
		Timeout: duration(p.TimeoutMS), IdleTimeout: duration(p.IdleTimeoutMS), RequestTimeout: duration(p.RequestTimeoutMS),
	}
}

// CodeEnd is how a run of code ended. Its output and results came before.
type CodeEnd struct {
	ExecutionCount *int64          `json:"execution_count,omitempty"` // in its context; absent = the service did not say
	Error          *core.CodeError `json:"error,omitempty"`           // what the code raised
}

// SandboxCreateCodeContext makes a context of its own, apart from the default one of
// its language. Errors: E8000 when there is no such kernel, E3003 when it does not
// start.
type SandboxCreateCodeContext struct {
	Language string `json:"language,omitempty"` // python, javascript, typescript, bash, r, java or the name of a kernel; default: python
	Cwd      string `json:"cwd,omitempty"`      // where its code runs; default: /home/user
}

// SandboxListCodeContexts gives the contexts of the sandbox, default ones included.
type SandboxListCodeContexts struct{}

// OfContext names a context.
type OfContext struct {
	ContextID string `json:"context_id" arg:"1"` // its id
}

// SandboxRestartCodeContext starts a context afresh: what its code defined is gone.
// Errors: E3003 when there is no such context.
type SandboxRestartCodeContext struct{ OfContext }

// SandboxRemoveCodeContext ends a context; false when there is none of that id.
type SandboxRemoveCodeContext struct{ OfContext }

// SandboxInterruptCodeContext stops what runs in a context, which keeps its
// variables; false when nothing ran. Errors: E3003 when there is no such context or
// it is still busy, E3004 where the service cannot.
type SandboxInterruptCodeContext struct{ OfContext }

func code() []Method {
	return []Method{
		shaped("sandbox.run_code", Code, runCode),
		onSandbox("sandbox.create_code_context", func(ctx context.Context, s *core.Sandbox, p *SandboxCreateCodeContext) (*core.CodeContext, error) {
			return s.CreateCodeContext(ctx, core.ContextOptions(*p))
		}),
		onSandbox("sandbox.list_code_contexts", func(ctx context.Context, s *core.Sandbox, _ *SandboxListCodeContexts) ([]core.CodeContext, error) {
			return orNone(s.ListCodeContexts(ctx))
		}),
		onSandbox("sandbox.restart_code_context", func(ctx context.Context, s *core.Sandbox, p *SandboxRestartCodeContext) (none, error) {
			return nil, s.RestartCodeContext(ctx, p.ContextID)
		}),
		onSandbox("sandbox.remove_code_context", func(ctx context.Context, s *core.Sandbox, p *SandboxRemoveCodeContext) (bool, error) {
			return s.RemoveCodeContext(ctx, p.ContextID)
		}),
		onSandbox("sandbox.interrupt_code_context", func(ctx context.Context, s *core.Sandbox, p *SandboxInterruptCodeContext) (bool, error) {
			return s.InterruptCodeContext(ctx, p.ContextID)
		}),
	}
}

// runCode sends to the caller what code gives; keeping it is the caller's.
func runCode(ctx context.Context, c *Call, s *core.Sandbox, p *SandboxRunCode) (*CodeEnd, error) {
	end := &CodeEnd{}
	sink := &codeCaller{caller: c.Caller, end: end}
	err := s.ExecuteCode(ctx, p.Code, p.options(), sink)
	_ = sink.Pause()
	if err == nil {
		return end, nil
	}
	if e := fault.As(err); e != nil {
		e.Partial = end
	}
	return nil, err
}

// codeCaller is the caller as the sink of a run. There may be very many messages:
// those that come together are given together.
type codeCaller struct {
	caller Caller
	end    *CodeEnd
	texts  []byte // of the messages that wait
	sizes  []byte
}

// mostWaiting is how many bytes of messages are given at once.
const mostWaiting = 1 << 20

func (c *codeCaller) Counted(n int64) error {
	c.end.ExecutionCount = &n
	return nil
}

func (c *codeCaller) Output(ch plane.Channel, text []byte) error {
	size := uint32(len(text)) << 1 //nolint:gosec // a piece is about a mebibyte
	if ch == plane.Stderr {
		size |= 1
	}
	if len(c.texts)+len(text) > mostWaiting {
		_ = c.Pause()
	}
	c.sizes = binary.LittleEndian.AppendUint32(c.sizes, size)
	c.texts = append(c.texts, text...) // a copy: what is behind text is the reader's
	if len(c.texts) < mostWaiting {
		return nil
	}
	return c.Pause()
}

// Pause gives the messages that wait, as MESSAGES of wasm/ABI.md.
func (c *codeCaller) Pause() error {
	if len(c.sizes) == 0 {
		return nil
	}
	c.texts = append(c.texts, c.sizes...)
	c.texts = binary.LittleEndian.AppendUint32(c.texts, uint32(len(c.sizes)/4)) //nolint:gosec // a piece is about a mebibyte
	c.caller.Output(plane.Messages, c.texts)
	c.sizes, c.texts = c.sizes[:0], c.texts[:0]
	return nil
}

func (c *codeCaller) Result(piece []byte, last bool) error {
	_ = c.Pause()
	c.caller.Output(plane.Object, piece)
	if last {
		c.caller.Event("result", nil)
	}
	return nil
}

// raised is the event of an error of the code.
type raised struct {
	Error *core.CodeError `json:"error"`
}

func (c *codeCaller) Raised(e *core.CodeError) error {
	_ = c.Pause()
	c.end.Error = e
	c.caller.Event("error", raised{e})
	return nil
}

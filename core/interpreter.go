package core

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// DefaultCodeTimeout is how long code may run unless told otherwise.
const DefaultCodeTimeout = 300 * time.Second

// CodeContext is one state of an interpreter.
type CodeContext = plane.CodeContext

// CodeError is what code raised.
type CodeError = plane.CodeError

// CodeSink takes what code gives, in order.
type CodeSink = plane.CodeSink

// CodeOptions shape one run of code. The zero value runs Python in its default
// context for at most DefaultCodeTimeout.
type CodeOptions struct {
	// Language is python, javascript, typescript, bash, r, java or the name of a
	// kernel: the code runs in the default context of that language. "" = python.
	Language string
	// ContextID is the context to run in; it excludes Language.
	ContextID string
	Envs      map[string]string // for this run, over those of the context
	// Timeout is how long the code may run, waiting for its turn included; 0 = no
	// limit; nil = DefaultCodeTimeout.
	Timeout *time.Duration
	// IdleTimeout is how long the sandbox may show no sign of life; 0 = no limit;
	// nil = the client's. Code that prints nothing is fine.
	IdleTimeout *time.Duration
	// RequestTimeout is how long the service may take to accept the code; 0 = no
	// limit; nil = the client's.
	RequestTimeout *time.Duration

	// Callbacks run one at a time, in the order of what they tell; the code's output
	// waits while one runs.
	OnStdout func(m OutputMessage)
	OnStderr func(m OutputMessage)
	OnResult func(r *Result)
	OnError  func(e *CodeError)
}

// RunCode runs code in an interpreter inside the sandbox, where what it defines
// stays for the next run, and waits for its end. Code that raises an error is a
// result: Execution.Error. Cancelling ctx interrupts the code. Errors: E3001 when
// it ran longer than Timeout and was interrupted, E3003 when the interpreter could
// not run it, E3005 when the connection was lost; the Execution so far comes with
// an error, too, as its Partial.
func (s *Sandbox) RunCode(ctx context.Context, code string, o CodeOptions) (*Execution, error) {
	g := &gatherer{o: &o, now: s.client.host.Now, execution: &Execution{}}
	err := s.ExecuteCode(ctx, code, o, g)
	if err == nil {
		return g.execution, nil
	}
	if e := fault.As(err); e != nil {
		e.Partial = g.execution
	}
	return nil, err
}

// ExecuteCode is RunCode for a caller who keeps what comes himself: everything
// goes to sink, and no callback of o is called.
func (s *Sandbox) ExecuteCode(ctx context.Context, code string, o CodeOptions, sink CodeSink) error {
	if err := s.checkCode(code, &o); err != nil {
		return err
	}
	limit := DefaultCodeTimeout
	watch := plane.Watch{
		Command: orElse(o.Timeout, limit),
		Idle:    orElse(o.IdleTimeout, s.client.settings.IdleTimeout),
		Request: orElse(o.RequestTimeout, s.client.settings.RequestTimeout),
	}
	spec := plane.CodeSpec{Code: code, Language: o.Language, ContextID: o.ContextID, Envs: o.Envs}
	return s.ofCode(ctx, s.interpreter().Execute(ctx, spec, watch, sink))
}

func (s *Sandbox) interpreter() plane.Interpreter { return s.client.control.Interpreter(s.handle) }

func (s *Sandbox) ofCode(ctx context.Context, err error) error {
	return about(cancelled(ctx, err), s.ID())
}

func (s *Sandbox) checkCode(code string, o *CodeOptions) error {
	if err := s.client.need(capability.Code); err != nil {
		return err
	}
	if o.Language != "" && o.ContextID != "" {
		return fault.InvalidArgument("%s and a context exclude each other: a context has its language", fault.Option("language"))
	}
	if !utf8.ValidString(code) {
		return fault.InvalidArgument("the code is not UTF-8").On("code")
	}
	if i := strings.IndexByte(code, 0); i >= 0 {
		return fault.InvalidArgument("the code has a NUL byte at offset %d, which no interpreter takes", i).On("code")
	}
	for _, err := range []error{
		checkTimeout("timeout_ms", o.Timeout), checkTimeout("idle_timeout_ms", o.IdleTimeout), checkTimeout("request_timeout_ms", o.RequestTimeout),
		checkEnvs("envs", o.Envs), checkText("language", o.Language), checkText("context_id", o.ContextID),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// ContextOptions shape a context. The zero value is for Python in /home/user.
type ContextOptions struct {
	Language string // as CodeOptions.Language
	Cwd      string // where its code runs; "" = /home/user
}

// CreateCodeContext makes a context of its own, apart from the default one of its
// language. Errors: E8000 when there is no such kernel, E3003 when it does not start.
func (s *Sandbox) CreateCodeContext(ctx context.Context, o ContextOptions) (*CodeContext, error) {
	if err := s.client.need(capability.CodeContexts); err != nil {
		return nil, err
	}
	for _, err := range []error{checkText("language", o.Language), checkText("cwd", o.Cwd)} {
		if err != nil {
			return nil, err
		}
	}
	made, err := s.interpreter().CreateContext(ctx, plane.ContextSpec(o))
	return made, s.ofCode(ctx, err)
}

// ListCodeContexts gives the contexts, default ones included.
func (s *Sandbox) ListCodeContexts(ctx context.Context) ([]CodeContext, error) {
	if err := s.client.need(capability.CodeContexts); err != nil {
		return nil, err
	}
	all, err := s.interpreter().Contexts(ctx)
	return all, s.ofCode(ctx, err)
}

// RestartCodeContext starts a context afresh: what its code defined is gone.
// Errors: E3003 when there is no such context.
func (s *Sandbox) RestartCodeContext(ctx context.Context, id string) error {
	if err := s.contextual(id); err != nil {
		return err
	}
	return s.ofCode(ctx, s.interpreter().RestartContext(ctx, id))
}

// RemoveCodeContext ends a context; false when there is none of that id.
func (s *Sandbox) RemoveCodeContext(ctx context.Context, id string) (bool, error) {
	if err := s.contextual(id); err != nil {
		return false, err
	}
	removed, err := s.interpreter().RemoveContext(ctx, id)
	return removed, s.ofCode(ctx, err)
}

// InterruptCodeContext stops what runs in a context, which keeps its variables;
// false when nothing ran. Errors: E3003 when there is no such context, or it is
// still busy; E3004 where the service cannot.
func (s *Sandbox) InterruptCodeContext(ctx context.Context, id string) (bool, error) {
	if err := s.contextual(id); err != nil {
		return false, err
	}
	interrupted, err := s.interpreter().InterruptContext(ctx, id)
	return interrupted, s.ofCode(ctx, err)
}

func (s *Sandbox) contextual(id string) error {
	if err := s.client.need(capability.CodeContexts); err != nil {
		return err
	}
	if id == "" {
		return fault.InvalidArgument("%s is missing: give a context, or its id", fault.Option("context"))
	}
	return checkText("context_id", id)
}

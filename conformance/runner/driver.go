package runner

import (
	"context"
	"encoding/json"
)

// Driver is one way to call the SDK: a language, or another host of the core.
// It translates names and parameters and decides nothing.
type Driver interface {
	Name() string
	// Open begins the session of one case. The client is made by the first call,
	// so that its errors are that call's.
	Open(Setup) (Session, error)
}

// Setup is what a client is made from.
type Setup struct {
	Arguments json.RawMessage   `json:"arguments"`     // in snake case; durations end in _ms
	Env       map[string]string `json:"env,omitempty"` // the whole environment as far as the SDK looks
	DotEnv    string            `json:"dotenv,omitempty"`
	Config    string            `json:"config,omitempty"` // contents of config.toml; "" = there is none
	Dir       string            `json:"dir"`              // for those files
}

// Session is one client and what it has made.
type Session interface {
	// Call makes one call of the method table. emit reports callbacks in their
	// order; kinds are start, stdout, stderr, pty, stdout_text, stderr_text,
	// watching and change.
	Call(ctx context.Context, name string, params json.RawMessage, emit func(kind string, value any)) (result any, failure *Failure)
	Close() error
}

// Failure is an error as any language shows it.
type Failure struct {
	Code         string   `json:"code"`
	Message      string   `json:"message"`
	Suggestion   string   `json:"suggestion,omitempty"`
	Option       string   `json:"option,omitempty"` // as the language spells it
	Status       int      `json:"status,omitempty"`
	RequestID    string   `json:"request_id,omitempty"`
	Retryable    bool     `json:"retryable"`
	RetryAfterMS int64    `json:"retry_after_ms,omitempty"`
	Kind         string   `json:"kind,omitempty"`
	Clock        string   `json:"clock,omitempty"`
	LimitMS      float64  `json:"limit_ms,omitempty"`
	Killed       bool     `json:"killed"`
	SandboxID    string   `json:"sandbox_id,omitempty"`
	PID          uint32   `json:"pid,omitempty"`
	Partial      any      `json:"partial,omitempty"`
	Cancelled    bool     `json:"cancelled"` // the language's own sign of a cancel
	Texts        []string `json:"texts"`     // every form in which it prints, causes included
}

package plane

import "context"

// What a run of code gives, where output goes by channel.
const (
	Messages = PTY + 1 + iota // what it prints, several messages at once: wasm/ABI.md, MESSAGES
	Object                    // the JSON of a result
)

// CodeContext is one state of an interpreter: what code defines in it stays for
// the next run.
type CodeContext struct {
	ID       string `json:"id"`       // its id
	Language string `json:"language"` // python, javascript, ..., or the name of a kernel
	Cwd      string `json:"cwd"`      // where its code runs
}

// CodeSpec is code to run.
type CodeSpec struct {
	Code      string
	Language  string // in its default context; "" = python, or that of the context
	ContextID string // "" = the default context of the language
	Envs      map[string]string
}

// ContextSpec describes a context to make. Zero values are left to the service.
type ContextSpec struct {
	Language string
	Cwd      string
}

// CodeError is what the code raised.
type CodeError struct {
	Name      string `json:"name"`      // the class of the error
	Value     string `json:"value"`     // its words
	Traceback string `json:"traceback"` // as the kernel shows it, colours included
}

// CodeSink takes what code gives, in order. An error ends the run. Bytes are
// valid until the method returns.
type CodeSink interface {
	// Counted gives the number of the execution in its context.
	Counted(n int64) error
	// Output gives whole characters, where they are not broken: text is the reader's
	// view of them. A message of less than a mebibyte comes in one piece.
	Output(ch Channel, text []byte) error
	// Result gives a piece of the JSON object of a result; last says that it is
	// complete. It is valid JSON in UTF-8, without NaN and infinity.
	Result(piece []byte, last bool) error
	// Raised says that the code raised an error.
	Raised(e *CodeError) error
	// Pause says that nothing more is at hand: a sink that gathers gives on what it
	// has.
	Pause() error
}

// Interpreter is the part of a data plane that runs code in kernels.
type Interpreter interface {
	// Execute runs code to its end. When ctx ends or the command clock fires, the
	// code is interrupted.
	Execute(ctx context.Context, spec CodeSpec, watch Watch, sink CodeSink) error
	CreateContext(ctx context.Context, spec ContextSpec) (*CodeContext, error)
	Contexts(ctx context.Context) ([]CodeContext, error)
	RestartContext(ctx context.Context, id string) error
	// RemoveContext answers false when there is no such context.
	RemoveContext(ctx context.Context, id string) (bool, error)
	// InterruptContext answers false when nothing ran.
	InterruptContext(ctx context.Context, id string) (bool, error)
}

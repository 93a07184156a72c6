package runner

import "encoding/json"

// Case is one scenario: what the peer does, what is called, what must come of
// it. Fields that a case leaves out are not checked.
type Case struct {
	Name     string         `json:"name"`
	Ref      string         `json:"ref,omitempty"`      // report or section that it stands for
	Needs    []string       `json:"needs,omitempty"`    // capabilities
	Codecs   []string       `json:"codecs,omitempty"`   // proto, json; default both when the peer speaks RPC
	Each     []Vars         `json:"each,omitempty"`     // one case for each record
	Matrix   map[string]any `json:"matrix,omitempty"`   // one case for each combination
	Settings Settings       `json:"settings,omitempty"` // of the client
	Sandbox  map[string]any `json:"sandbox,omitempty"`  // the case begins with a handle, changed by this
	Peer     []Rule         `json:"peer,omitempty"`
	Calls    []Call         `json:"calls"`
	Requests *Requests      `json:"requests,omitempty"`

	File  string `json:"-"`
	Codec string `json:"-"` // that this variant speaks

	raw any // as expanded, before the addresses of the peer are known
}

// Vars are the values of placeholders in one expansion.
type Vars map[string]any

// Settings configure the client of a case. The runner fills in what is not given:
// an API key, both base URLs, and no retries.
type Settings struct {
	Arguments map[string]any    `json:"arguments,omitempty"` // in snake case; durations end in _ms
	Env       map[string]string `json:"env,omitempty"`
	DotEnv    string            `json:"dotenv,omitempty"`
	Config    string            `json:"config,omitempty"`
	Bare      bool              `json:"bare,omitempty"` // the runner fills in nothing
}

// Rule answers matching requests; the first that matches and is not used up does.
type Rule struct {
	On     string         `json:"on"`               // METHOD path; a path of the form ~expr is a regular expression
	At     string         `json:"at,omitempty"`     // api, data or other; default any
	Times  int            `json:"times,omitempty"`  // how often it answers; default always
	Header map[string]any `json:"header,omitempty"` // the request must have these
	Query  *string        `json:"query,omitempty"`  // the request must have this query, byte for byte
	Reply
}

// Reply is one HTTP answer. At most one kind of body is given.
type Reply struct {
	Status  int               `json:"status,omitempty"` // default 200
	Headers map[string]string `json:"headers,omitempty"`
	DelayMS int               `json:"delay_ms,omitempty"` // before the head

	JSON     any             `json:"json,omitempty"`
	Text     *string         `json:"text,omitempty"`
	Bytes    *Bytes          `json:"bytes,omitempty"`
	Message  json.RawMessage `json:"message,omitempty"`   // unary RPC answer in protobuf's JSON
	RPCError *RPCError       `json:"rpc_error,omitempty"` // in the form that the procedure has
	Stream   []Step          `json:"stream,omitempty"`    // envelopes of a streaming RPC
	Lines    []Step          `json:"lines,omitempty"`     // lines of JSON
	Wire     []Step          `json:"wire,omitempty"`      // raw bytes of the whole answer
	Kernel   *Kernel         `json:"kernel,omitempty"`    // the WebSocket of a Jupyter kernel
	Gzip     bool            `json:"gzip,omitempty"`      // the body is compressed

	Framing  string `json:"framing,omitempty"`   // length (default), chunked (default for streams) or close
	Chunk    int    `json:"chunk,omitempty"`     // bytes at a time
	PauseUS  int    `json:"pause_us,omitempty"`  // between chunks
	CutAfter *int   `json:"cut_after,omitempty"` // bytes of the body; then the connection ends
	Then     string `json:"then,omitempty"`      // keep (default), fin, rst or hang
	Unread   bool   `json:"unread,omitempty"`    // answer without reading the request's body
	WaitFor  string `json:"wait_for,omitempty"`  // a request of this form has come
}

// RPCError is a Connect error.
type RPCError struct {
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	Status  int    `json:"status,omitempty"` // of a unary answer; default by code
}

// Step is one thing that a streaming peer does. Exactly one field is set.
type Step struct {
	Start     *uint32         `json:"start,omitempty"` // process started, with this pid
	Stdout    *Bytes          `json:"stdout,omitempty"`
	Stderr    *Bytes          `json:"stderr,omitempty"`
	PTY       *Bytes          `json:"pty,omitempty"`
	End       map[string]any  `json:"end,omitempty"`
	Keepalive bool            `json:"keepalive,omitempty"`
	Message   json.RawMessage `json:"message,omitempty"` // any message in protobuf's JSON
	EOS       map[string]any  `json:"eos,omitempty"`     // end-of-stream message
	Envelope  *Envelope       `json:"envelope,omitempty"`
	Line      map[string]any  `json:"line,omitempty"` // a line of JSON, its type first
	Part      *Part           `json:"part,omitempty"` // only the first bytes of a step
	Send      *Bytes          `json:"send,omitempty"` // raw bytes
	Repeat    *Repeat         `json:"repeat,omitempty"`
	Pieces    *Pieces         `json:"pieces,omitempty"`

	SleepMS int    `json:"sleep_ms,omitempty"`
	WaitFor string `json:"wait_for,omitempty"` // a request of this form has come
	Close   bool   `json:"close,omitempty"`    // the body ends well
	FIN     bool   `json:"fin,omitempty"`      // the connection is closed
	RST     bool   `json:"rst,omitempty"`      // the connection is reset
	Hang    bool   `json:"hang,omitempty"`     // nothing more, until the client is gone
	None    bool   `json:"none,omitempty"`     // nothing: a placeholder
}

// Envelope is a Connect envelope with any flags and any bytes.
type Envelope struct {
	Flags byte   `json:"flags"`
	Bytes *Bytes `json:"bytes"`
	Size  *int   `json:"size,omitempty"` // that the head claims
}

// Part is the beginning of a step: the first N bytes, or all but the last -N.
type Part struct {
	Of Step `json:"of"`
	N  int  `json:"n"`
}

// Pieces are output in several data events: cut at one place, or each of a size.
type Pieces struct {
	Of   string `json:"of"` // stdout, stderr or pty
	Data Bytes  `json:"data"`
	At   int    `json:"at,omitempty"`
	Size int    `json:"size,omitempty"`
	// Between is what comes between two pieces.
	Between []Step `json:"between,omitempty"`
}

// Repeat is a step several times.
type Repeat struct {
	Of    Step `json:"of"`
	Times int  `json:"times"`
}

// Call is one call of the method table.
type Call struct {
	Call   string         `json:"call"`
	Params map[string]any `json:"params,omitempty"`

	CancelAfterMS int    `json:"cancel_after_ms,omitempty"`
	CancelWhen    string `json:"cancel_when,omitempty"` // a request of this form has come
	CancelOn      string `json:"cancel_on,omitempty"`   // an event of this kind has come
	Background    bool   `json:"background,omitempty"`  // the next call begins at once; it is awaited at the end
	WaitFor       string `json:"wait_for,omitempty"`    // a request of this form has come before it begins

	Expect
}

// Expect is what a call must give. A call without Error must succeed.
type Expect struct {
	Result any     `json:"result,omitempty"` // subset, with matchers
	Error  any     `json:"error,omitempty"`  // subset of the error's fields, with matchers
	Events []any   `json:"events,omitempty"` // callbacks in order: [kind, value]
	MaxMS  int     `json:"max_ms,omitempty"`
	MinMS  int     `json:"min_ms,omitempty"`
	Joined any     `json:"joined,omitempty"` // the values of each kind of callback, put together
	Fails  bool    `json:"fails,omitempty"`  // any error
	Any    bool    `json:"any,omitempty"`    // success or failure
	Texts  Pattern `json:"texts,omitempty"`
}

// Pattern is about every text in which an error shows itself.
type Pattern struct {
	Has    []string `json:"has,omitempty"`
	HasNot []string `json:"has_not,omitempty"`
	// Option: the message names the option that is wrong, as the language spells it.
	Option bool `json:"option,omitempty"`
}

// Requests is what the peer must have seen.
type Requests struct {
	All     []string       `json:"all,omitempty"`    // METHOD path of every request, in order; [] = none
	None    bool           `json:"none,omitempty"`   // there was no request at all
	Seen    []RequestMatch `json:"seen,omitempty"`   // each matches at least one request
	Unseen  []string       `json:"unseen,omitempty"` // forms that no request has
	Aborted []string       `json:"aborted,omitempty"`
	Other   bool           `json:"other,omitempty"` // requests that no rule answers are no fault
}

// RequestMatch describes a request.
type RequestMatch struct {
	On      string         `json:"on"`
	At      string         `json:"at,omitempty"`
	Times   *int           `json:"times,omitempty"`   // exactly; default at least once
	Target  *string        `json:"target,omitempty"`  // path and query, byte for byte
	Headers map[string]any `json:"headers,omitempty"` // null = absent; else a matcher
	JSON    any            `json:"json,omitempty"`    // the whole body
	Message any            `json:"message,omitempty"` // the whole RPC request in protobuf's JSON
	Sent    []any          `json:"sent,omitempty"`    // all messages of a client stream
	Body    *Bytes         `json:"body,omitempty"`
	Form    []any          `json:"form,omitempty"`  // the parts of a multipart body
	Whole   bool           `json:"whole,omitempty"` // there is no header besides, but those that HTTP itself needs

	page bool // a browser sent it
}

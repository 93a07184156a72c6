package connect

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Error is what the peer answered instead of a result.
type Error struct {
	Code       string        // Connect code in snake case
	Message    string        // the peer's words, bounded
	Said       bool          // the words are the peer's
	Status     int           // HTTP status; 200 for errors inside a stream
	Plain      bool          // not a Connect error body: a proxy or gateway answered
	SandboxID  string        // the gateway's JSON names the sandbox
	Port       int           // the gateway's JSON names a closed port
	Field      string        // the field of the request that is wrong, with which Message begins
	Known      []string      // the names that there are, when one that was given is not
	RequestID  string        // the peer's trace id
	RetryAfter time.Duration // 0 = not said
	Again      Again         // the header Should-Retry
}

// Again is what a peer says about repeating a call; the zero value is nothing.
type Again int

// What Should-Retry can say (e2b.md 10).
const (
	AgainYes Again = iota + 1
	AgainNo
)

// MayRepeat gives the peer's own word on repeating the call, if it gave one.
func (e *Error) MayRepeat() (may, said bool) { return e.Again == AgainYes, e.Again != 0 }

// NeverSent tells whether the gateway answered in place of a service that did
// not listen yet: it named the closed port (e2b.md 2.3), so nothing saw the call.
func (e *Error) NeverSent() bool { return e.Plain && e.Status == 502 && e.Port != 0 }

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Protocol says that the peer broke the protocol.
type Protocol struct {
	Expected string
	Got      string // first bytes of what came, printable and bounded
}

func (e *Protocol) Error() string { return "expected " + e.Expected + ", got " + e.Got }

// Cut says that a stream ended without its end-of-stream message.
type Cut struct{ Cause error }

func (e *Cut) Error() string { return "the stream ended without an end-of-stream message" }

// Unwrap gives the transport's error, nil after a clean end of the connection.
func (e *Cut) Unwrap() error { return e.Cause }

// codeOfStatus names a plain HTTP answer (e2b.md 3.3; 404 is an unknown route,
// 429 and 5xx the proxy's).
func codeOfStatus(status int) string {
	switch status {
	case 400:
		return "invalid_argument"
	case 401:
		return "unauthenticated"
	case 403:
		return "permission_denied"
	case 404, 501, 505:
		return "unimplemented"
	case 409:
		return "aborted"
	case 413, 429:
		return "resource_exhausted"
	case 499:
		return "canceled"
	case 500:
		return "internal"
	case 502, 503:
		return "unavailable"
	case 504:
		return "deadline_exceeded"
	}
	return "unknown"
}

// isCode tells a Connect code, known or not, from any other text.
func isCode(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

const maxMessageText = 500

// Failure turns an answer with a bad status into an error. It never fails: the
// status decides, the body only adds words, without the secrets of the request.
func Failure(resp *transport.Response, body []byte, secrets Secrets) *Error {
	body = secrets.Hide(body)
	e := &Error{
		Code: codeOfStatus(resp.Status), Status: resp.Status, Plain: true,
		RequestID:  resp.Header.Get("x-e2b-trace-id"),
		RetryAfter: RetryAfter(resp.Header),
		Again:      shouldRetry(resp.Header),
	}
	var answer struct {
		Code      json.RawMessage `json:"code"`
		Message   string          `json:"message"`
		SandboxID string          `json:"sandboxId"`
		Port      int             `json:"port"`
		Field     string          `json:"field"`
		Known     []string        `json:"known"`
	}
	if json.Unmarshal(body, &answer) == nil {
		e.Message, e.SandboxID, e.Port = Clip(answer.Message), Clip(answer.SandboxID), answer.Port
		if strings.HasPrefix(e.Message, answer.Field) {
			e.Field = answer.Field
		}
		e.Known = known(answer.Known)
		var code string
		if json.Unmarshal(answer.Code, &code) == nil && isCode(code) {
			e.Code, e.Plain = code, false
		}
	} else if text := strings.TrimSpace(string(body)); isPlainText(text) {
		e.Message = Clip(text)
	}
	if e.Said = e.Message != ""; !e.Said {
		e.Message = "the server answered HTTP " + strconv.Itoa(resp.Status) + " and did not say why"
	}
	return e
}

// mostKnown bounds how many names a peer may give.
const mostKnown = 20

func known(names []string) []string {
	var some []string
	for _, name := range names[:min(len(names), mostKnown)] {
		some = append(some, Clip(name))
	}
	return some
}

// RetryAfter reads delta seconds (e2b.md 1.1); 0 when absent or another form.
func RetryAfter(h transport.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("retry-after"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

func shouldRetry(h transport.Header) Again {
	switch said := h.Get("should-retry"); {
	case strings.EqualFold(said, "true"):
		return AgainYes
	case strings.EqualFold(said, "false"):
		return AgainNo
	}
	return 0
}

// Clip bounds a peer's text and takes control characters out of it.
func Clip(s string) string {
	if len(s) > maxMessageText {
		s = s[:maxMessageText] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || (r < ' ' && r != '\n' && r != '\t') || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// isPlainText keeps a proxy's HTML page out of messages.
func isPlainText(s string) bool {
	return s != "" && !strings.HasPrefix(s, "<") && utf8.ValidString(s)
}

func firstBytes(b []byte) string {
	if len(b) > 60 {
		b = b[:60]
	}
	return strconv.QuoteToASCII(string(b))
}

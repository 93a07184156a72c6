package jupyter

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
)

// protocolVersion is the version of the protocol that requests are written in.
const protocolVersion = "5.3"

// Message is one message of a kernel.
type Message struct {
	// Type names it, as "stream" or "execute_reply".
	Type string
	// ID is its own id, Parent that of the request that it answers, "" = none.
	ID, Parent string
	// Date is when the kernel sent it, as it says; "" where it does not.
	Date string
	// Content is the JSON of what it says. Read it with Decode.
	Content []byte
}

// header is the first part of a message; a parent header has the same form.
type header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
}

// Decode reads the content into v. Kernels write numbers that JSON does not
// know (NaN, Infinity): those become null.
func (m *Message) Decode(v any) error {
	err := json.Unmarshal(m.Content, v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	m.Content = standardNumbers(m.Content)
	return json.Unmarshal(m.Content, v)
}

// Errors of messages that do not come from the kernel, or are none.
var (
	errNoDelimiter = errors.New("jupyter: message without a delimiter or parts")
	errSignature   = errors.New("jupyter: wrong signature")
)

// delimiter separates routing frames from the message.
var delimiter = []byte("<IDS|MSG>")

// Parts after the delimiter.
const (
	partSignature = iota
	partHeader
	partParent
	partMetadata
	partContent
	partCount
)

// parse reads the frames of a message and checks that the kernel wrote it.
func (s *Session) parse(frames [][]byte) (*Message, error) {
	at := -1
	for i, f := range frames {
		if bytes.Equal(f, delimiter) {
			at = i
			break
		}
	}
	if at < 0 || len(frames) < at+1+partCount {
		return nil, errNoDelimiter
	}
	parts := frames[at+1:]
	if !s.signed(parts) {
		return nil, errSignature
	}
	var own, parent header
	if err := json.Unmarshal(parts[partHeader], &own); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(parts[partParent], &parent); err != nil {
		return nil, err
	}
	return &Message{Type: own.Type, ID: own.ID, Parent: parent.ID, Date: own.Date, Content: parts[partContent]}, nil
}

// Request is a message to the kernel.
type Request struct {
	// ID is the parent of every message that answers.
	ID     string
	frames [][]byte
}

// Request writes a request of a type with its content, which becomes JSON.
func (s *Session) Request(kind string, content any) (*Request, error) {
	id := newID()
	head, err := json.Marshal(header{
		ID: id, Session: s.id, Username: "user", Type: kind, Version: protocolVersion,
		Date: time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
	})
	if err != nil {
		return nil, err
	}
	body, err := marshal(content)
	if err != nil {
		return nil, err
	}
	parts := [][]byte{nil, head, []byte("{}"), []byte("{}"), body}
	parts[partSignature] = s.signature(parts)
	return &Request{ID: id, frames: append([][]byte{delimiter}, parts...)}, nil
}

// marshal writes JSON without the escapes that only pages need.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

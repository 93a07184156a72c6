package shell

import (
	"bytes"
	"encoding/json"
)

// request is the JSON of a CALL. Its parts are read later, most of them only the
// first time that they come.
type request struct {
	Method           string          `json:"method"`
	Client           json.RawMessage `json:"client"`
	Sandbox          json.RawMessage `json:"sandbox"`
	Params           json.RawMessage `json:"params"`
	RequestTimeoutMS *int64          `json:"request_timeout_ms"`
}

// readRequest splits a CALL by a look at its outermost braces, which costs a
// tenth of what a JSON decoder takes; what looks unusual goes to the decoder.
func readRequest(text []byte) (*request, error) {
	r := &request{}
	if r.split(text) {
		return r, nil
	}
	*r = request{}
	return r, json.Unmarshal(text, r)
}

func (r *request) split(text []byte) bool {
	text, ok := bytes.CutPrefix(text, []byte("{"))
	for first := true; ok; first = false {
		if text = space(text); first && len(text) > 0 && text[0] == '}' {
			return len(space(text[1:])) == 0
		}
		var key, value []byte
		if key, text, ok = simple(text); !ok {
			break
		}
		if text, ok = bytes.CutPrefix(space(text), []byte(":")); !ok {
			break
		}
		text = space(text)
		n := length(text)
		value, text = text[:n], space(text[n:])
		if n == 0 || len(text) == 0 || !r.set(string(key), value) {
			break
		}
		if text[0] == '}' {
			return len(space(text[1:])) == 0
		}
		text, ok = bytes.CutPrefix(text, []byte(","))
	}
	return false
}

func (r *request) set(key string, value []byte) bool {
	switch key {
	case "method":
		name, rest, ok := simple(value)
		r.Method = string(name)
		return ok && len(rest) == 0
	case "client":
		r.Client = value
	case "sandbox":
		r.Sandbox = value
	case "params":
		r.Params = value
	case "request_timeout_ms":
		return json.Unmarshal(value, &r.RequestTimeoutMS) == nil
	}
	return true
}

func space(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// simple takes a string without escapes.
func simple(b []byte) (s, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	end := bytes.IndexAny(b[1:], "\"\\")
	if end < 0 || b[1+end] != '"' {
		return nil, nil, false
	}
	return b[1 : 1+end], b[2+end:], true
}

// length is that of the value at the start of b, as far as its quotes and braces
// tell; 0 when there is none. Whoever reads the value sees whether it is one.
func length(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			if i = quoted(b, i); i < 0 {
				return 0
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return 0
}

// quoted is where the string that begins at i ends; below 0 when it does not.
func quoted(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return -1
}

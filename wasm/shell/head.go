package shell

import (
	"encoding/json"

	"github.com/agent-sandbox/agent-sandbox/core/scan"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// answerHead is the JSON of an answer's head.
type answerHead struct {
	Status  int              `json:"status"`
	Headers transport.Header `json:"headers"`
}

func head(payload []byte) (status int, header transport.Header, err error) {
	h := &answerHead{}
	if t := scan.Text(payload); !t.Object(h.field) || !t.End() {
		*h = answerHead{}
		err = json.Unmarshal(payload, h)
	}
	return h.Status, h.Headers, err
}

func (h *answerHead) field(key string, t *scan.Text) bool {
	switch key {
	case "status":
		n, ok := t.Int()
		h.Status = int(n)
		return ok && int64(h.Status) == n
	case "headers":
		h.Headers = make(transport.Header, 0, commonHeaders)
		return t.Array(h.header)
	}
	return false
}

// commonHeaders is how many an answer mostly has.
const commonHeaders = 8

func (h *answerHead) header(t *scan.Text) bool {
	if !t.Take('[') {
		return false
	}
	name, ok := t.String()
	if !ok || !t.Take(',') {
		return false
	}
	value, ok := t.String()
	h.Headers = append(h.Headers, [2]string{name, value})
	return ok && t.Take(']')
}

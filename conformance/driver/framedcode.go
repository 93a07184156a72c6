package driver

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/wasm/host"
)

// coding keeps what code gives, as every host of the core does.
type coding struct {
	c         *framedCall
	object    []byte // of the result under way
	execution core.Execution
	broken    error
}

// runCode runs code.
func (c *framedCall) runCode() (any, error) {
	k := &coding{c: c}
	text, err := c.do(host.Call{Output: k.output, Event: k.event})
	var failed *host.Failure
	switch {
	case k.broken != nil:
		return nil, k.broken
	case errors.As(err, &failed):
		if failed.Partial != nil || failed.Cancelled {
			end := failed.Partial
			failed.Partial, err = json.Marshal(k.ended(end))
		}
		return nil, errors.Join(failed, err)
	case err != nil:
		return nil, err
	}
	return k.ended(text), nil
}

func (k *coding) output(s host.Stream, b []byte) {
	switch s {
	case host.Messages:
		b, n := b[:len(b)-4], int(binary.LittleEndian.Uint32(b[len(b)-4:]))
		texts, sizes := b[:len(b)-4*n], b[len(b)-4*n:]
		for ; len(sizes) > 0; sizes = sizes[4:] {
			size := binary.LittleEndian.Uint32(sizes)
			k.message(texts[:size>>1], size&1 == 1)
			texts = texts[size>>1:]
		}
	case host.Object:
		k.object = append(k.object, b...)
	}
}

func (k *coding) message(b []byte, stderr bool) {
	var decoder core.TextDecoder
	text := decoder.Decode(b) + decoder.Flush()
	keep, kind := &k.execution.Logs.Stdout, "stdout_text"
	if stderr {
		keep, kind = &k.execution.Logs.Stderr, "stderr_text"
	}
	*keep = append(*keep, text)
	k.tell(kind, text)
}

func (k *coding) event(kind string, text json.RawMessage) {
	switch kind {
	case "result":
		r, err := core.ReadResult(k.object)
		if err != nil {
			k.broken = err
			return
		}
		k.object = nil
		k.execution.Results = append(k.execution.Results, r)
		k.tell(kind, r.Raw)
	case "error":
		var e struct{ Error *core.CodeError }
		if k.broken = json.Unmarshal(text, &e); k.broken == nil {
			k.tell(kind, e.Error)
		}
	}
}

func (k *coding) tell(kind string, value any) {
	if wants(k.c.On, kind) {
		k.c.emit(kind, value)
	}
}

func (k *coding) ended(text json.RawMessage) map[string]any {
	var end struct {
		Count int64           `json:"execution_count"`
		Error *core.CodeError `json:"error"`
	}
	_ = json.Unmarshal(text, &end)
	k.execution.Count, k.execution.Error = end.Count, end.Error
	return execution(&k.execution)
}

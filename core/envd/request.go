package envd

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// Requests of process.Process (e2b.md 3.4). Field numbers stand there.

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func appendJSON(b []byte, v any) ([]byte, error) {
	enc, err := json.Marshal(v)
	return append(b, enc...), err
}

// empty is a request without fields.
type empty struct{}

func (empty) AppendProto(b []byte) []byte         { return b }
func (empty) AppendJSON(b []byte) ([]byte, error) { return append(b, "{}"...), nil }

// done is an answer whose fields nobody needs.
type done struct{}

func (done) ParseProto([]byte) error { return nil }
func (done) ParseJSON([]byte) error  { return nil }

// startRequest is process.StartRequest.
type startRequest struct{ plane.StartSpec }

func (r startRequest) AppendProto(b []byte) []byte {
	config := appendString(nil, 1, r.Cmd)
	for _, a := range r.Args {
		config = appendText(config, 2, a)
	}
	config = appendMap(config, 3, r.Envs)
	config = appendString(config, 4, r.Cwd)
	b = appendBytes(b, 1, config)
	if r.PTY != nil {
		b = appendBytes(b, 2, ptyProto(*r.PTY))
	}
	b = appendString(b, 3, r.Tag)
	if r.PTY == nil {
		b = appendVarint(b, 4, boolBit(r.Stdin))
	}
	return b
}

func (r startRequest) AppendJSON(b []byte) ([]byte, error) {
	process := map[string]any{"cmd": r.Cmd, "args": orEmpty(r.Args)}
	if len(r.Envs) > 0 {
		process["envs"] = r.Envs
	}
	if r.Cwd != "" {
		process["cwd"] = r.Cwd
	}
	m := map[string]any{"process": process}
	if r.Tag != "" {
		m["tag"] = r.Tag
	}
	if r.PTY != nil {
		m["pty"] = ptyJSON(*r.PTY)
	} else {
		m["stdin"] = r.Stdin
	}
	return appendJSON(b, m)
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func boolBit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func ptyProto(s plane.Size) []byte {
	return appendBytes(nil, 1, appendUint(appendUint(nil, 1, uint64(s.Cols)), 2, uint64(s.Rows)))
}

func ptyJSON(s plane.Size) map[string]any {
	return map[string]any{"size": map[string]any{"cols": s.Cols, "rows": s.Rows}}
}

// selectRequest is every request that holds a selector alone: Connect, CloseStdin.
type selectRequest struct{ plane.Selector }

func (r selectRequest) AppendProto(b []byte) []byte {
	return appendBytes(b, 1, appendSelector(nil, r.Selector))
}

func (r selectRequest) AppendJSON(b []byte) ([]byte, error) {
	return appendJSON(b, map[string]any{"process": jsonSelector(r.Selector)})
}

// resizeRequest is process.UpdateRequest.
type resizeRequest struct {
	plane.Selector
	size plane.Size
}

func (r resizeRequest) AppendProto(b []byte) []byte {
	b = appendBytes(b, 1, appendSelector(nil, r.Selector))
	return appendBytes(b, 2, ptyProto(r.size))
}

func (r resizeRequest) AppendJSON(b []byte) ([]byte, error) {
	return appendJSON(b, map[string]any{"process": jsonSelector(r.Selector), "pty": ptyJSON(r.size)})
}

// inputRequest is process.SendInputRequest.
type inputRequest struct {
	plane.Selector
	input
}

func (r inputRequest) AppendProto(b []byte) []byte {
	b = appendBytes(b, 1, appendSelector(nil, r.Selector))
	return appendBytes(b, 2, r.input.proto())
}

func (r inputRequest) AppendJSON(b []byte) ([]byte, error) {
	return appendJSON(b, map[string]any{"process": jsonSelector(r.Selector), "input": r.input.json()})
}

// input is process.ProcessInput: oneof stdin 1, pty 2.
type input struct {
	pty  bool
	data []byte
}

func (i input) proto() []byte {
	if i.pty {
		return appendBytes(nil, 2, i.data)
	}
	return appendBytes(nil, 1, i.data)
}

func (i input) json() map[string]any {
	if i.pty {
		return map[string]any{"pty": i.data}
	}
	return map[string]any{"stdin": i.data}
}

// signalRequest is process.SendSignalRequest.
type signalRequest struct {
	plane.Selector
	signal plane.Signal
}

var signalNames = map[plane.Signal]string{plane.SIGKILL: "SIGNAL_SIGKILL", plane.SIGTERM: "SIGNAL_SIGTERM"}

func (r signalRequest) AppendProto(b []byte) []byte {
	b = appendBytes(b, 1, appendSelector(nil, r.Selector))
	return appendUint(b, 2, uint64(r.signal))
}

func (r signalRequest) AppendJSON(b []byte) ([]byte, error) {
	m := map[string]any{"process": jsonSelector(r.Selector), "signal": int(r.signal)}
	if name := signalNames[r.signal]; name != "" {
		m["signal"] = name
	}
	return appendJSON(b, m)
}

// streamStart and streamData are process.StreamInputRequest: oneof start 1,
// data 2, keepalive 3.
type streamStart struct{ plane.Selector }

func (r streamStart) AppendProto(b []byte) []byte {
	return appendBytes(b, 1, appendBytes(nil, 1, appendSelector(nil, r.Selector)))
}

func (r streamStart) AppendJSON(b []byte) ([]byte, error) {
	return appendJSON(b, map[string]any{"start": map[string]any{"process": jsonSelector(r.Selector)}})
}

type streamData struct{ input }

func (r streamData) AppendProto(b []byte) []byte {
	return appendBytes(b, 2, appendBytes(nil, 2, r.input.proto()))
}

func (r streamData) AppendJSON(b []byte) ([]byte, error) {
	return appendJSON(b, map[string]any{"data": map[string]any{"input": r.input.json()}})
}

type streamKeepalive struct{}

func (streamKeepalive) AppendProto(b []byte) []byte { return appendBytes(b, 3, nil) }

func (streamKeepalive) AppendJSON(b []byte) ([]byte, error) {
	return appendJSON(b, map[string]any{"keepalive": map[string]any{}})
}

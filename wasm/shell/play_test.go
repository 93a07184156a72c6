package shell

import (
	"encoding/binary"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// play is a host that a test drives by hand. Its random bytes and times are
// always the same.
type play struct {
	*testing.T
	s *Shell
}

func newPlay(t *testing.T) *play { return &play{t, newShell()} }

func newShell() *Shell {
	var n byte
	return New(Options{
		Rand: func(b []byte) {
			for i := range b {
				n++
				b[i] = n
			}
		},
		Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
	})
}

// give gives frames in the way that a host does, and takes what comes out.
func (p *play) give(frames ...[]byte) []frame.Frame {
	p.Helper()
	var in []byte
	for _, f := range frames {
		in = append(in, f...)
	}
	copy(p.s.Buffer(len(in)), in)
	return p.read(p.s.RunBuffer(len(in)))
}

func (p *play) read(out []byte) (all []frame.Frame) {
	p.Helper()
	require.Equal(p, len(out)-totalSize, int(binary.LittleEndian.Uint32(out)))
	out = append([]byte(nil), out[totalSize:]...)
	for len(out) > 0 {
		f, rest, err := frame.Next(out)
		require.NoError(p, err)
		all = append(all, f)
		out = rest
	}
	return all
}

// only wants one frame of a kind among all.
func (p *play) only(all []frame.Frame, kind frame.Kind) frame.Frame {
	p.Helper()
	var found []frame.Frame
	for _, f := range all {
		if f.Kind == kind {
			found = append(found, f)
		}
	}
	require.Len(p, found, 1, "frames of kind %d in %v", kind, all)
	return found[0]
}

func (p *play) json(f frame.Frame) map[string]any {
	p.Helper()
	text := f.Payload
	switch f.Kind {
	case frame.HTTPRequest, frame.Store:
		var err error
		text, _, err = frame.Split(f.Payload)
		require.NoError(p, err)
	}
	var m map[string]any
	require.NoError(p, json.Unmarshal(text, &m), "%s", text)
	return m
}

const testClient = `{"arguments":{"provider":"e2b","api_key":"s3cr3t-key","api_url":"http://api.test","sandbox_url":"http://data.test","retries":0}}`

const testSandbox = `{"provider":"e2b","sandbox_id":"i1","urls":{"sandbox":"http://data.test"},"tokens":{"envd":"s3cr3t-envd"},"envd_version":"0.6.13"}`

func call(op uint32, method, params string, attached ...byte) []byte {
	text := `{"method":"` + method + `","client":` + testClient + `,"sandbox":` + testSandbox + `,"params":` + params + `}`
	return frame.Append(nil, frame.Frame{Op: op, Kind: frame.Call, Payload: frame.Mixed([]byte(text))}, attached)
}

func report(op, stream uint32, kind frame.Kind, payload string) []byte {
	return frame.Append(nil, frame.Frame{Op: op, Stream: stream, Kind: kind, Payload: []byte(payload)})
}

func answer(op, stream uint32, status int, contentType string) []byte {
	b, _ := json.Marshal(map[string]any{"status": status, "headers": [][2]string{{"content-type", contentType}}})
	return report(op, stream, frame.HTTPHead, string(b))
}

// envelope is one message of a Connect stream.
func envelope(flags byte, message string) string {
	b := binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(message))) //nolint:gosec // small
	return string(b) + message
}

func field(num byte, content string) string {
	b := binary.AppendUvarint([]byte{num<<3 | 2}, uint64(len(content)))
	return string(b) + content
}

const protoStream = "application/connect+proto"

// begun, said and over are the events of a process.
func begun(pid byte) string { return envelope(0, field(1, field(1, string([]byte{1 << 3, pid})))) }

func said(text string) string { return envelope(0, field(1, field(2, field(1, text)))) }

func over() string {
	return envelope(0, field(1, field(3, string([]byte{1 << 3, 0, 2 << 3, 1})))) + envelope(2, "{}")
}

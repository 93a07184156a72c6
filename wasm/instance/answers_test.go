package instance_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	filesystem "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
	process "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// answer makes what the peer says to a request: what it names comes back in the
// answer, so that answers that were mixed up show.
func (w *world) answer(payload []byte) *talk {
	text, body, err := frame.Split(payload)
	require.NoError(w, err)
	var r struct{ Method, URL string }
	require.NoError(w, json.Unmarshal(text, &r))
	u, err := url.Parse(r.URL)
	require.NoError(w, err)
	switch {
	case u.Path == "/process.Process/Start":
		var q process.StartRequest
		require.NoError(w, proto.Unmarshal(body[5:], &q))
		args := q.GetProcess().GetArgs()
		return w.stream(args[len(args)-1])
	case u.Path == "/process.Process/SendSignal":
		return answered(nil, "application/proto", false)
	case u.Path == "/filesystem.Filesystem/Stat":
		var q filesystem.StatRequest
		require.NoError(w, proto.Unmarshal(body, &q))
		b, err := proto.Marshal(&filesystem.StatResponse{Entry: &filesystem.EntryInfo{Name: strings.TrimPrefix(q.GetPath(), "/"), Path: q.GetPath(), Type: filesystem.FileType_FILE_TYPE_FILE}})
		require.NoError(w, err)
		return answered(b, "application/proto", false)
	case u.Path == "/execute":
		var q struct{ Code string }
		require.NoError(w, json.Unmarshal(body, &q))
		return w.code(q.Code)
	case u.Path == "/files" && r.Method == "GET":
		return answered(content(strings.TrimPrefix(u.Query().Get("path"), "/")), "application/octet-stream", true)
	case u.Path == "/files":
		path := u.Query().Get("path")
		return answered(fmt.Appendf(nil, `[{"name":%q,"path":%q,"type":"file"}]`, strings.TrimPrefix(path, "/"), path), "application/json", false)
	case strings.HasPrefix(u.Path, "/sandboxes/"):
		id := strings.TrimPrefix(u.Path, "/sandboxes/")
		return answered(fmt.Appendf(nil, `{"sandboxID":%q,"templateID":"t","state":"running"}`, id), "application/json", false)
	}
	return answered([]byte("404"), "text/plain", false)
}

// code is the answer to code: as much as content, as output and as a result.
func (w *world) code(name string) *talk {
	half := content(name)[:len(content(name))/2]
	text, err := json.Marshal(string(half))
	require.NoError(w, err)
	lines := fmt.Sprintf(`{"type": "stdout", "text": %s, "timestamp": "t"}`+"\n"+`{"type": "result", "text": %s}`+"\n"+`{"type": "end_of_execution"}`+"\n", text, text)
	return answered([]byte(lines), "application/json", false)
}

// content is a file's, or a command's output: as long as its name says.
func content(name string) []byte { return bytes.Repeat([]byte(name+"\n"), 50) }

func answered(body []byte, contentType string, bulk bool) *talk {
	t := &talk{coming: []frame.Frame{head(contentType)}, lost: true}
	rest := []frame.Frame{{Kind: frame.HTTPChunk, Payload: body}, {Kind: frame.HTTPEnd}}
	if len(body) == 0 {
		rest = rest[1:]
	}
	if bulk {
		t.held = rest
	} else {
		t.coming = append(t.coming, rest...)
	}
	return t
}

func head(contentType string) frame.Frame {
	return frame.Frame{Kind: frame.HTTPHead, Payload: fmt.Appendf(nil, `{"status":200,"headers":[["content-type",%q]]}`, contentType)}
}

// stream is a process that says its name many times.
func (w *world) stream(name string) *talk {
	t := &talk{coming: []frame.Frame{head("application/connect+proto"), w.envelope(startEvent(7))}, lost: true}
	for all := content(name); len(all) > 0; {
		n := min(len(all), 1+w.dice.IntN(97))
		t.coming = append(t.coming, w.envelope(stdoutEvent(all[:n])))
		all = all[n:]
	}
	end := frame.Frame{Kind: frame.HTTPChunk, Payload: append([]byte{2, 0, 0, 0, 2}, "{}"...)}
	t.coming = append(t.coming, w.envelope(endEvent()), end, frame.Frame{Kind: frame.HTTPEnd})
	return t
}

func (w *world) envelope(e *process.ProcessEvent) frame.Frame {
	b, err := proto.Marshal(&process.StartResponse{Event: e})
	require.NoError(w, err)
	return frame.Frame{Kind: frame.HTTPChunk, Payload: enveloped(b)}
}

func enveloped(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b))), b...)
}

func startEvent(pid uint32) *process.ProcessEvent {
	return &process.ProcessEvent{Event: &process.ProcessEvent_Start{Start: &process.ProcessEvent_StartEvent{Pid: pid}}}
}

func stdoutEvent(b []byte) *process.ProcessEvent {
	return &process.ProcessEvent{Event: &process.ProcessEvent_Data{Data: &process.ProcessEvent_DataEvent{
		Output: &process.ProcessEvent_DataEvent_Stdout{Stdout: b},
	}}}
}

func endEvent() *process.ProcessEvent {
	return &process.ProcessEvent{Event: &process.ProcessEvent_End{End: &process.ProcessEvent_EndEvent{Exited: true, Status: "exit status 0"}}}
}

package envd

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	fspb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
	procpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// The generated code of the daemon reads what the hand-kept codec writes, and
// the other way round, in both codecs.

func requests() map[string]struct {
	ours   connect.Encoder
	theirs proto.Message
	want   string // protobuf's JSON
} {
	size := &plane.Size{Cols: 91, Rows: 33}
	byPID, byTag := plane.Selector{PID: math.MaxUint32}, plane.Selector{Tag: "tä"}
	return map[string]struct {
		ours   connect.Encoder
		theirs proto.Message
		want   string
	}{
		"start": {
			startRequest{plane.StartSpec{Cmd: "a", Args: []string{"", "ü", "c\n"}, Envs: map[string]string{"A": "", "B": "c=d"}, Cwd: "/x", Tag: "t", Stdin: true}},
			&procpb.StartRequest{}, `{"process":{"cmd":"a","args":["","ü","c\n"],"envs":{"A":"","B":"c=d"},"cwd":"/x"},"tag":"t","stdin":true}`,
		},
		"start without stdin": {startRequest{plane.StartSpec{Cmd: "a"}}, &procpb.StartRequest{}, `{"process":{"cmd":"a"},"stdin":false}`},
		"start a terminal":    {startRequest{plane.StartSpec{Cmd: "a", PTY: size}}, &procpb.StartRequest{}, `{"process":{"cmd":"a"},"pty":{"size":{"cols":91,"rows":33}}}`},
		"select by pid":       {selectRequest{byPID}, &procpb.ConnectRequest{}, `{"process":{"pid":4294967295}}`},
		"select by tag":       {selectRequest{byTag}, &procpb.CloseStdinRequest{}, `{"process":{"tag":"tä"}}`},
		"resize":              {resizeRequest{byPID, *size}, &procpb.UpdateRequest{}, `{"process":{"pid":4294967295},"pty":{"size":{"cols":91,"rows":33}}}`},
		"stdin":               {inputRequest{byPID, input{data: []byte{0, 255}}}, &procpb.SendInputRequest{}, `{"process":{"pid":4294967295},"input":{"stdin":"AP8="}}`},
		"empty stdin":         {inputRequest{byPID, input{data: []byte{}}}, &procpb.SendInputRequest{}, `{"process":{"pid":4294967295},"input":{"stdin":""}}`},
		"terminal input":      {inputRequest{byTag, input{pty: true, data: []byte("x")}}, &procpb.SendInputRequest{}, `{"process":{"tag":"tä"},"input":{"pty":"eA=="}}`},
		"kill":                {signalRequest{byPID, plane.SIGKILL}, &procpb.SendSignalRequest{}, `{"process":{"pid":4294967295},"signal":"SIGNAL_SIGKILL"}`},
		"terminate":           {signalRequest{byPID, plane.SIGTERM}, &procpb.SendSignalRequest{}, `{"process":{"pid":4294967295},"signal":"SIGNAL_SIGTERM"}`},
		"another signal":      {signalRequest{byPID, 2}, &procpb.SendSignalRequest{}, `{"process":{"pid":4294967295},"signal":2}`},
		"stream start":        {streamStart{byTag}, &procpb.StreamInputRequest{}, `{"start":{"process":{"tag":"tä"}}}`},
		"stream data":         {streamData{input{data: []byte("x")}}, &procpb.StreamInputRequest{}, `{"data":{"input":{"stdin":"eA=="}}}`},
		"stream keepalive":    {streamKeepalive{}, &procpb.StreamInputRequest{}, `{"keepalive":{}}`},
		"list":                {empty{}, &procpb.ListRequest{}, `{}`},
		"stat":                {pathRequest{path: "/ü"}, &fspb.StatRequest{}, `{"path":"/ü"}`},
		"list a directory":    {pathRequest{"/", 3}, &fspb.ListDirRequest{}, `{"path":"/","depth":3}`},
		"move":                {moveRequest{"/a", "/b"}, &fspb.MoveRequest{}, `{"source":"/a","destination":"/b"}`},
		"watch":               {watchRequest{plane.WatchSpec{Path: "/", Recursive: true, IncludeEntry: true, AllowNetworkMounts: true}}, &fspb.WatchDirRequest{}, `{"path":"/","recursive":true,"includeEntry":true,"allowNetworkMounts":true}`},
		"watch plainly":       {watchRequest{plane.WatchSpec{Path: "/"}}, &fspb.CreateWatcherRequest{}, `{"path":"/"}`},
		"watcher":             {watcherRequest{"w1"}, &fspb.GetWatcherEventsRequest{}, `{"watcherId":"w1"}`},
	}
}

func TestRequestsAreReadByGeneratedCode(t *testing.T) {
	for name, c := range requests() {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, proto.UnmarshalOptions{}.Unmarshal(c.ours.AppendProto(nil), c.theirs))
			require.Empty(t, c.theirs.ProtoReflect().GetUnknown())
			b, err := protojson.Marshal(c.theirs)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(b), "protobuf")

			proto.Reset(c.theirs)
			b, err = c.ours.AppendJSON([]byte("kept"))
			require.NoError(t, err)
			require.Equal(t, "kept", string(b[:4]), "what was there stays")
			require.NoError(t, protojson.Unmarshal(b[4:], c.theirs))
			b, err = protojson.Marshal(c.theirs)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(b), "JSON")
		})
	}
}

const fullEntry = `{"name":"ü","type":"FILE_TYPE_SYMLINK","path":"/ü","size":"9223372036854775807","mode":493,"permissions":"Lrwxrwxrwx","owner":"o","group":"g",
	"modifiedTime":"2026-01-02T03:04:05.000000006Z","symlinkTarget":"/t","metadata":{"a":"b","c":""}}`

func wantEntry() *plane.Entry {
	return &plane.Entry{
		Name: "ü", Type: plane.TypeSymlink, Path: "/ü", Size: math.MaxInt64, Mode: 0o755, Permissions: "Lrwxrwxrwx", Owner: "o", Group: "g",
		ModifiedTime: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), SymlinkTarget: "/t", Metadata: map[string]string{"a": "b", "c": ""},
	}
}

// answer is one message in protobuf's JSON, and what we read of it.
type answer struct {
	text   string
	theirs proto.Message
	ours   connect.Parser
	want   connect.Parser
}

func processAnswers() map[string]answer {
	start := &procpb.StartResponse{}
	return map[string]answer{
		"started":      {`{"event":{"start":{"pid":4294967295}}}`, start, &event{}, &event{started: true, pid: math.MaxUint32}},
		"stdout":       {`{"event":{"data":{"stdout":"AP8="}}}`, start, &event{}, &event{output: true, data: []byte{0, 255}}},
		"stderr":       {`{"event":{"data":{"stderr":"eA=="}}}`, start, &event{}, &event{output: true, channel: plane.Stderr, data: []byte("x")}},
		"terminal":     {`{"event":{"data":{"pty":"eA=="}}}`, start, &event{}, &event{output: true, channel: plane.PTY, data: []byte("x")}},
		"exit 0":       {`{"event":{"end":{"exited":true,"status":"exit status 0"}}}`, start, &event{}, &event{end: &plane.End{Exited: true, Status: "exit status 0"}}},
		"killed":       {`{"event":{"end":{"exitCode":-1,"status":"signal: killed","error":"signal: killed"}}}`, start, &event{}, &event{end: &plane.End{ExitCode: -1, Status: "signal: killed", Error: "signal: killed"}}},
		"an empty end": {`{"event":{"end":{}}}`, start, &event{}, &event{end: &plane.End{}}},
		"keepalive":    {`{"event":{"keepalive":{}}}`, start, &event{}, &event{}},
		"nothing":      {`{}`, start, &event{}, &event{}},
		"processes": {
			`{"processes":[{"config":{"cmd":"a","args":["b",""],"envs":{"C":"d"},"cwd":"/"},"pid":7,"tag":"t"},{"pid":8}]}`, &procpb.ListResponse{}, &processList{},
			&processList{[]plane.ProcessInfo{
				{PID: 7, Tag: "t", Cmd: "a", Args: []string{"b", ""}, Envs: map[string]string{"C": "d"}, Cwd: "/"},
				{PID: 8, Args: []string{}, Envs: map[string]string{}},
			}},
		},
	}
}

func fileAnswers() map[string]answer {
	watch := &fspb.WatchDirResponse{}
	return map[string]answer{
		"an entry":            {`{"entry":` + fullEntry + `}`, &fspb.StatResponse{}, &entryAnswer{}, &entryAnswer{wantEntry()}},
		"no entry":            {`{}`, &fspb.StatResponse{}, &entryAnswer{}, &entryAnswer{}},
		"entries":             {`{"entries":[` + fullEntry + `,{}]}`, &fspb.ListDirResponse{}, &entryList{}, &entryList{[]plane.Entry{*wantEntry(), {Type: plane.TypeUnknown}}}},
		"a watch stands":      {`{"start":{}}`, watch, &watchMessage{}, &watchMessage{started: true}},
		"a change":            {`{"filesystem":{"name":"a","type":"EVENT_TYPE_CREATE","entry":` + fullEntry + `}}`, watch, &watchMessage{}, &watchMessage{event: &plane.Event{Name: "a", Type: plane.EventCreate, Entry: wantEntry()}}},
		"a change of no kind": {`{"filesystem":{"name":"a"}}`, watch, &watchMessage{}, &watchMessage{event: &plane.Event{Name: "a", Type: "unspecified"}}},
		"a watch's keepalive": {`{"keepalive":{}}`, watch, &watchMessage{}, &watchMessage{}},
		"a watcher":           {`{"watcherId":"w"}`, &fspb.CreateWatcherResponse{}, &watcherID{}, &watcherID{"w"}},
		"changes": {
			`{"events":[{"name":"a","type":"EVENT_TYPE_REMOVE"},{"name":"b","type":"EVENT_TYPE_CHMOD"}]}`, &fspb.GetWatcherEventsResponse{}, &eventList{},
			&eventList{[]plane.Event{{Name: "a", Type: plane.EventRemove}, {Name: "b", Type: plane.EventChmod}}},
		},
	}
}

func answers() map[string]answer {
	all := processAnswers()
	maps.Copy(all, fileAnswers())
	return all
}

func TestAnswersOfGeneratedCodeAreRead(t *testing.T) {
	for name, a := range answers() {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, protojson.Unmarshal([]byte(a.text), a.theirs))
			binary, err := proto.Marshal(a.theirs)
			require.NoError(t, err)
			require.NoError(t, a.ours.ParseProto(binary))
			require.Equal(t, a.want, plain(a.ours), "protobuf")

			text, err := protojson.Marshal(a.theirs)
			require.NoError(t, err)
			require.NoError(t, a.ours.ParseJSON(text))
			require.Equal(t, a.want, plain(a.ours), "JSON, with protobuf's spaces")
			require.NoError(t, a.ours.ParseJSON(compact(t, text)))
			require.Equal(t, a.want, plain(a.ours), "JSON without spaces")
		})
	}
}

// plain copies what a parser lends, without its scratch.
func plain(p connect.Parser) connect.Parser {
	e, ok := p.(*event)
	if !ok {
		return p
	}
	c := *e
	c.data, c.scratch = bytes.Clone(e.data), nil
	return &c
}

func compact(t *testing.T, b []byte) []byte {
	var out bytes.Buffer
	require.NoError(t, json.Compact(&out, b))
	return out.Bytes()
}

func parsers() []connect.Parser {
	return []connect.Parser{&event{}, &entryAnswer{}, &entryList{}, &watchMessage{}, &watcherID{}, &eventList{}, &processList{}}
}

// A hostile sandbox can send any bytes: reading them must end, without a panic.
func FuzzParse(f *testing.F) {
	for _, a := range answers() {
		if protojson.Unmarshal([]byte(a.text), a.theirs) != nil {
			f.Fatal(a.text)
		}
		binary, err := proto.Marshal(a.theirs)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(binary)
		f.Add([]byte(a.text))
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		for _, p := range parsers() {
			_ = p.ParseProto(b)
			_ = p.ParseJSON(b)
		}
	})
}

// What generated code refuses, we may take or refuse; what it reads as an
// event, we read as the same event.
func FuzzEventAgainstGenerated(f *testing.F) {
	f.Add([]byte{0x0a, 0x05, 0x12, 0x03, 0x0a, 0x01, 'x'})
	f.Add([]byte{0x0a, 0x04, 0x1a, 0x02, 0x08, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		var m procpb.StartResponse
		if proto.Unmarshal(b, &m) != nil || bytes.Count(b, []byte{0x0a}) > 1 {
			return // a oneof that is there twice is merged there
		}
		var e event
		require.NoError(t, e.ParseProto(b))
		switch {
		case m.GetEvent().GetEnd() != nil && e.end != nil:
			require.Equal(t, int(m.GetEvent().GetEnd().GetExitCode()), e.end.ExitCode)
		case m.GetEvent().GetStart() != nil && e.started && !e.output && e.end == nil:
			require.Equal(t, m.GetEvent().GetStart().GetPid(), e.pid)
		}
	})
}

// The fast way for bulk output reads what the general way reads.
func FuzzFastData(f *testing.F) {
	f.Add([]byte("x"), uint8(0))
	f.Add([]byte{}, uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, channel uint8) {
		name := []string{"stdout", "stderr", "pty"}[channel%3]
		b64 := base64.StdEncoding.EncodeToString(data)
		var fast, general event
		require.True(t, fast.fastData([]byte(`{"event":{"data":{"`+name+`":"`+b64+`"}}}`)))
		require.NoError(t, general.ParseJSON([]byte(`{ "event":{"data":{"`+name+`":"`+b64+`"}}}`)))
		require.Equal(t, general.channel, fast.channel)
		require.Equal(t, string(general.data), string(fast.data))
		require.True(t, fast.output)
	})
}

func TestFastDataLeavesOtherShapesAlone(t *testing.T) {
	for _, text := range []string{
		`{"event":{"data":{"stdout":"a\u003d=="}}}`, `{"event":{"data":{"stdout":"eA==","stderr":"eA=="}}}`, `{"event":{"data":{"stdout":"e"}}}`,
		`{"event":{"data":{"other":"eA=="}}}`, `{"event":{"data":{""}}}`, `{"event":{"data":{"stdout":"eA"}}}`,
	} {
		var e event
		require.False(t, e.fastData([]byte(text)), text)
	}
}

func TestVersionsAreCompared(t *testing.T) {
	for _, c := range []struct {
		version string
		gate    []int
		want    bool
	}{
		{"", []int{9, 9, 9}, true},
		{"garbage", []int{9, 9, 9}, true},
		{"0.5.7", []int{0, 5, 7}, true},
		{"0.5.6", []int{0, 5, 7}, false},
		{"0.5.10", []int{0, 5, 7}, true},
		{"0.10.0", []int{0, 5, 7}, true},
		{"1.0.0", []int{0, 5, 7}, true},
		{"v0.5.6", []int{0, 5, 7}, false},
		{"0.5.6-rc.1", []int{0, 5, 7}, false},
		{"0.5.7+build", []int{0, 5, 7}, true},
		{"0.5", []int{0, 5, 7}, true},
		{"99.99.99", []int{0, 6, 4}, true},
	} {
		require.Equal(t, c.want, AtLeast(c.version, c.gate...), "%s against %v", c.version, c.gate)
	}
}

// Vectors computed by the definition of e2b.md 3.1 with another program.
func TestSignatures(t *testing.T) {
	at, zero := int64(1767225600), int64(0)
	for _, c := range []struct {
		path, operation, user, token string
		expires                      *int64
		want                         string
	}{
		{"/a.txt", "read", "", "tok", nil, "v1_EV/DvoS4mUiocl2RlxlZEymBC6EMYhkDL6kq8QBzt6g"},
		{"/a b/文.txt", "write", "root", "tok", nil, "v1_eq3aT7LucNtJclIaYsvLeEwBb2TGYXwNrnIkJvAT4jo"},
		{"", "write", "", "tok", nil, "v1_XfYYOx0ojDc6kqfLnaJuiYLWXCK2SaWCthv8+gv5kbo"},
		{"/a.txt", "read", "user", "tok", &at, "v1_A7zduLnIiu9dSZsiAs3qWsCmQi7ekYI0ZFaIemzE1oM"},
		{"/a:b", "read", "u", "t:k", &zero, "v1_O0tL0l753oYNtC6xbj4WssEZjgLIlb+JV2QzS3FoQKI"},
	} {
		require.Equal(t, c.want, Signature(c.path, c.operation, c.user, c.token, c.expires))
	}
}

func TestQueriesAreEncodedOnceByteForByte(t *testing.T) {
	for value, want := range map[string]string{
		"/a b": "?k=%2Fa%20b", "a+b": "?k=a%2Bb", "%41": "?k=%2541", "é": "?k=%C3%A9", "\xff": "?k=%FF", "": "", "a&b=c#d": "?k=a%26b%3Dc%23d", "~-._": "?k=~-._",
	} {
		require.Equal(t, want, query{{"k", value}}.encode())
	}
}

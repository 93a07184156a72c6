package shell

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/method"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// runs plays a whole commands.run and gives the frames of its last turn.
func (p *play) runs(op uint32, output string) []frame.Frame {
	p.Helper()
	r := p.only(p.give(call(op, "commands.run", `{"command":"x"}`)), frame.HTTPRequest)
	require.Equal(p, "http://data.test/process.Process/Start", p.json(r)["url"])
	require.Equal(p, true, p.json(r)["lasting"])
	return p.give(answer(op, r.Stream, 200, protoStream),
		report(op, r.Stream, frame.HTTPChunk, begun(7)+said(output)+over()), report(op, r.Stream, frame.HTTPEnd, ""))
}

func TestACommandRuns(t *testing.T) {
	p := newPlay(t)
	all := p.runs(1, "hello\n")
	require.Equal(t, map[string]any{"kind": "started", "pid": 7.0}, p.json(p.only(all, frame.Event)))
	require.Equal(t, "hello\n", string(p.only(all, frame.Stdout).Payload))
	require.JSONEq(t, `{"exit_code":0,"execution_time_ms":0}`, string(p.only(all, frame.Result).Payload))
	require.Equal(t, frame.Done, all[len(all)-1].Kind)
	require.Zero(t, p.s.engine.Live())
	p.runs(1, "again") // the id is free
}

func TestTheSameInputGivesTheSameOutput(t *testing.T) {
	var first []byte
	for range 20 {
		s := newShell()
		var all []byte
		for _, in := range [][]byte{
			call(1, "sandbox.create", `{"template":"t","metadata":{"b":"1","a":"2","c":"3"},"envs":{"X":"1","Y":"2","Z":"3"}}`),
			call(2, "sandbox.create", `{"envs":{"A=":"1","B=":"2","C=":"3"}}`),
			call(3, "files.write", `{"path":"p","metadata":{"k1":"v","k2":"v","k3":"v"},"multipart":true}`, 'a', 'b'),
			call(4, "commands.run", `{"command":"x","envs":{"X":"1","Y":"2","Z":"3"}}`),
			call(5, "sandbox.list", `{"metadata":{"b":"1","a":"2","c":"3"}}`),
			report(4, 2, frame.Cancel, `{"reason":"cancel"}`), report(1, 0, frame.Cancel, `{}`), report(3, 0, frame.Cancel, ``),
		} {
			all = append(all, s.Run(in)...)
		}
		if first == nil {
			first = bytes.Clone(all)
		}
		require.Equal(t, first, all)
	}
}

func TestMistakesOfTheHostAreReportedAndSettleNothing(t *testing.T) {
	for name, in := range map[string][]byte{
		"a live id":      call(1, "commands.list", "{}"),
		"operation 0":    call(0, "commands.list", "{}"),
		"a cut frame":    call(9, "commands.list", "{}")[:20],
		"a cut head":     {1, 2, 3},
		"unknown kind":   report(1, 0, 63, ""),
		"an output kind": report(1, 0, frame.Result, "null"),
		"no JSON":        report(1, 1, frame.HTTPHead, "{"),
		"no mixed":       report(1, 1, frame.StoreResult, "\xff\xff\xff\xff"),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			p.give(call(1, "commands.list", "{}"))
			all := p.give(in)
			e := p.only(all, frame.Error)
			require.Zero(t, e.Op)
			require.Equal(t, "E9000", p.json(e)["code"])
			require.Len(t, all, 1)
			require.Equal(t, 1, p.s.engine.Live())
		})
	}
}

func TestACallThatCannotBeMadeSettlesItself(t *testing.T) {
	for name, c := range map[string]struct {
		in   []byte
		code string
	}{
		"unknown method":  {call(1, "no.such", "{}"), "E8000"},
		"broken JSON":     {frame.Append(nil, frame.Frame{Op: 1, Kind: frame.Call, Payload: frame.Mixed([]byte("{"))}), "E9000"},
		"no mixed":        {report(1, 0, frame.Call, "x"), "E9000"},
		"wrong parameter": {call(1, "files.list", `{"path":1}`), "E8000"},
		"params no JSON":  {call(1, "files.list", `[]`), "E8000"},
		"no client":       {frame.Append(nil, frame.Frame{Op: 1, Kind: frame.Call, Payload: frame.Mixed([]byte(`{"method":"files.list"}`))}), "E8000"},
		"a panic":         {call(1, "test.panic", "{}"), "E9000"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			all := p.give(c.in)
			require.Len(t, all, 2)
			require.Equal(t, c.code, p.json(p.only(all, frame.Error))["code"])
			require.Equal(t, frame.Done, all[1].Kind)
			require.NotContains(t, string(all[0].Payload), "s3cr3t")
			p.runs(1, "the shell lives")
		})
	}
}

func TestAFileIsDeliveredByTheHost(t *testing.T) {
	p := newPlay(t)
	open := func(op uint32) frame.Frame {
		r := p.only(p.give(call(op, "files.read", `{"path":"p","offset":2,"length":3,"idle_timeout_ms":700}`)), frame.HTTPRequest)
		require.Equal(t, true, p.json(r)["bulk"])
		return p.only(p.give(answer(op, r.Stream, 200, "application/octet-stream")), frame.BodyToHost)
	}
	b := open(1)
	require.JSONEq(t, `{"idle_ms":700,"gzip":false,"skip":2,"take":3}`, string(b.Payload))
	require.JSONEq(t, `{"bytes":3}`, string(p.only(p.give(report(1, b.Stream, frame.HTTPEnd, `{"bytes":3}`)), frame.Result).Payload))

	e := p.json(p.only(p.give(report(2, open(2).Stream, frame.HTTPError, `{"kind":"other","clock":"idle","limit_ms":700}`)), frame.Error))
	require.Equal(t, []any{"E5002", "idle", 700.0}, []any{e["code"], e["clock"], e["limit_ms"]})

	b = open(3)
	all := p.give(report(3, 0, frame.Cancel, `{"reason":"cancel"}`))
	require.Equal(t, b.Stream, p.only(all, frame.HTTPAbort).Stream)
	require.Equal(t, true, p.json(p.only(all, frame.Error))["cancelled"])

	r := p.only(p.give(call(4, "files.read", `{"path":"p"}`)), frame.HTTPRequest)
	p.only(p.give(answer(4, r.Stream, 404, "application/json")), frame.BodyToCore)
	all = p.give(report(4, r.Stream, frame.HTTPChunk, `{"code":404,"message":"no p"}`), report(4, r.Stream, frame.HTTPEnd, ""))
	require.Equal(t, "E4001", p.json(p.only(all, frame.Error))["code"])
}

func TestAWriteNamesItsSource(t *testing.T) {
	p := newPlay(t)
	r := p.only(p.give(call(1, "files.write", `{"path":"p","source":{"id":5,"size":3},"multipart":true,"gzip":true}`)), frame.HTTPRequest)
	text, raw, err := frame.Split(r.Payload)
	require.NoError(t, err)
	j := p.json(r)
	require.Equal(t, []any{"source", 5.0, true}, []any{j["body"], j["source"], j["gzip"]})
	require.Len(t, raw, int(j["prefix"].(float64)+j["suffix"].(float64)), "%s", text)
	require.True(t, strings.HasPrefix(string(raw), "--form-"))
}

func TestInputIsAskedForPieceByPiece(t *testing.T) {
	p := newPlay(t)
	all := p.give(call(1, "commands.stream_stdin", `{"pid":7}`))
	// The peer is asked with an empty stream whether it knows client streams.
	r := p.only(all, frame.HTTPRequest)
	require.Equal(t, "pieces", p.json(r)["body"])
}

func TestAChunkThatIsHeldIsNotOverwritten(t *testing.T) {
	p := newPlay(t)
	r := p.only(p.give(call(1, "commands.run", `{"command":"x"}`)), frame.HTTPRequest)
	stream := begun(7) + said("abcdefgh") + over()
	p.give(answer(1, r.Stream, 200, protoStream))
	var out string
	for i := range len(stream) { // a byte a turn, in the same buffer
		for _, f := range p.give(report(1, r.Stream, frame.HTTPChunk, stream[i:i+1])) {
			if f.Kind == frame.Stdout {
				out += string(f.Payload)
			}
		}
	}
	require.Equal(t, "abcdefgh", out)
}

func TestMuchOutputNeedsLittleMemory(t *testing.T) {
	p := newPlay(t)
	r := p.only(p.give(call(1, "commands.run", `{"command":"x"}`)), frame.HTTPRequest)
	p.give(answer(1, r.Stream, 200, protoStream), report(1, r.Stream, frame.HTTPChunk, begun(7)))
	chunk := report(1, r.Stream, frame.HTTPChunk, said(strings.Repeat("x", 64<<10)))
	turn := func() {
		copy(p.s.Buffer(len(chunk)), chunk)
		p.s.RunBuffer(len(chunk))
	}
	turn()
	per := testing.AllocsPerRun(1000, turn)
	require.Less(t, per, 5.0, "allocations a chunk")
}

func TestEveryMethodHasOneName(t *testing.T) {
	require.Len(t, newShell().methods, len(method.Table()))
}

// FuzzRun: whatever a host sends, nothing panics and the answer is whole frames.
func FuzzRun(f *testing.F) {
	f.Add(call(1, "commands.run", `{"command":"x"}`))
	f.Add(append(call(1, "files.read", `{"path":"x"}`), report(1, 2, frame.HTTPError, `{"kind":"reset"}`)...))
	f.Add(append(call(1, "sandbox.create", `{}`), report(1, 0, frame.Cancel, ``)...))
	f.Add(append(call(1, "commands.stream_stdin", `{"pid":1}`), report(1, 0, frame.InputEnd, ``)...))
	f.Add(answer(1, 2, 200, protoStream))
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(in, []byte("test.")) {
			return
		}
		var before []byte
		for range 2 {
			p := newPlay(t)
			p.runs(1, "a")
			r := p.only(p.give(call(1, "commands.run", `{"command":"y"}`)), frame.HTTPRequest)
			p.give(answer(1, r.Stream, 200, protoStream))
			out := p.s.Run(bytes.Clone(in))
			p.read(out)
			if before != nil {
				require.Equal(t, before, out)
			}
			before = bytes.Clone(out)
		}
	})
}

func TestTimersThatDoNotMatterAreNotSaid(t *testing.T) {
	p := newPlay(t)
	kinds := func(all []frame.Frame) (sets, clears int) {
		for _, f := range all {
			switch f.Kind {
			case frame.TimerSet:
				sets++
			case frame.TimerClear:
				clears++
			}
		}
		return sets, clears
	}
	all := p.give(call(1, "commands.run", `{"command":"x"}`))
	sets, clears := kinds(all)
	require.Equal(t, []int{3, 0}, []int{sets, clears}, "the command, idle and request clocks")
	r := p.only(all, frame.HTTPRequest)
	all = p.give(answer(1, r.Stream, 200, protoStream), report(1, r.Stream, frame.HTTPChunk, begun(7)))
	sets, clears = kinds(all)
	require.Equal(t, []int{1, 1}, []int{sets, clears}, "the idle clock starts anew, the request clock is over")
	all = p.give(report(1, r.Stream, frame.HTTPChunk, over()), report(1, r.Stream, frame.HTTPEnd, ""))
	sets, clears = kinds(all)
	require.Equal(t, []int{0, 0}, []int{sets, clears}, "all end with the operation")
	require.Equal(t, frame.Done, all[len(all)-1].Kind)
}

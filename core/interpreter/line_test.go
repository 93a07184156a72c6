package interpreter

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// heap keeps what lines say, as texts.
type heap struct {
	all    []string
	result []byte
}

func (h *heap) Counted(n int64) error {
	h.all = append(h.all, fmt.Sprint("count ", n))
	return nil
}

func (h *heap) Output(ch plane.Channel, text []byte) error {
	h.all = append(h.all, fmt.Sprintf("%d %s", ch, strings.ToValidUTF8(string(text), "�")))
	return nil
}

func (h *heap) Result(piece []byte, last bool) error {
	h.result = append(h.result, piece...)
	if last {
		h.all = append(h.all, "result "+string(h.result))
		h.result = nil
	}
	return nil
}

func (h *heap) Pause() error { return nil }

func (h *heap) Raised(e *plane.CodeError) error {
	h.all = append(h.all, fmt.Sprintf("error %s|%s|%s", e.Name, e.Value, e.Traceback))
	return nil
}

// hear reads an answer in pieces of a size.
func hear(t testing.TB, answer string, size int) (*heap, *lines, error) {
	h := &heap{}
	l := newLines(h)
	for b := []byte(answer); len(b) > 0; {
		n := min(size, len(b))
		if used, err := l.push(bytes.Clone(b[:n])); err != nil {
			require.LessOrEqual(t, used, n)
			return h, l, err
		}
		b = b[n:]
	}
	return h, l, nil
}

func TestLinesSayTheSameHoweverTheyAreCut(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   []string
	}{
		"as the service writes them": {
			`{"type": "number_of_executions", "execution_count": 3}` + "\n" + `{"type": "stdout", "text": "a\nb\u00e9\ud83d\ude00\"\\\/\t", "timestamp": "2026-01-01T00:00:00Z"}` + "\n" +
				`{"type": "stderr", "text": "e"}` + "\n" + `{"type":"keepalive"}` + "\n" + `{"type": "end_of_execution"}` + "\n",
			[]string{"count 3", "0 a\nbé😀\"\\/\t", "1 e"},
		},
		"a result, whatever is in it": {
			`{"type": "result", "text": "1", "json": {"a": [1, -0.5e+3, {"b": null}], "n": NaN}, "chart": [Infinity, -Infinity, 1e999], "extra": {}, "is_main_result": true}`,
			[]string{`result {"text":"1","json":{"a":[1,-0.5e+3,{"b":null}],"n":null},"chart":[null,null,1e999],"extra":{},"is_main_result":true}`},
		},
		"a result of nothing":          {`{"type":"result"}`, []string{"result {}"}},
		"the kind comes last":          {`{"text": "x\u0041", "type": "stdout"}{"png": "AA==", "a": 1, "type": "result"}`, []string{"0 xA", `result {"png":"AA==","a":1}`}},
		"the kind is in the middle":    {`{"text": "x", "type": "result", "png": "AA=="}`, []string{`result {"text":"x","png":"AA=="}`}},
		"the kind comes twice":         {`{"type": "result", "text": "x", "type": "error"}`, []string{`result {"text":"x"}`}},
		"no line feed between":         {`{"type":"stdout","text":"a"}{"type":"stdout","text":"b"}`, []string{"0 a", "0 b"}},
		"blank lines and CRLF":         {"\r\n\n{\"type\":\"stdout\",\"text\":\"a\"}\r\n\r\n {\"type\":\"stdout\",\"text\":\"b\"}\r\n", []string{"0 a", "0 b"}},
		"raw UTF-8":                    {`{"type":"stdout","text":"日本 é 😀"}`, []string{"0 日本 é 😀"}},
		"broken UTF-8":                 {"{\"type\":\"stdout\",\"text\":\"a\xffb\xe2\x82\"}{\"type\":\"result\",\"text\":\"\xf0\x9f\x98z\"}", []string{"0 a�b�", `result {"text":"�z"}`}},
		"half a pair":                  {`{"type":"stdout","text":"\ud83d-\ude00\ud83d\ud83d\ude00\ud83d"}{"type":"result","text":"\ud83d\n\ude00\ud83d"}`, []string{"0 �-��😀�", `result {"text":"�\n��"}`}},
		"escapes stay escaped":         {`{"type":"result","text":"\u0022\u005c\u0000\b\f\n"}`, []string{`result {"text":"\u0022\u005c\u0000\b\f\n"}`}},
		"control characters, raw":      {"{\"type\":\"stdout\",\"text\":\"\x1b[1m\r\x00\"}{\"type\":\"result\",\"text\":\"\x1b\"}", []string{"0 \x1b[1m\r\x00", `result {"text":"\u001b"}`}},
		"kinds that nobody knows":      {`{"type":"clear_output","wait":[{"type":"stdout"}]}{"type":7,"text":"x"}{"type":null}{"type":"stdout","text":"a"}`, []string{"0 a"}},
		"long kinds that nobody knows": {`{"type":"new","a":"` + strings.Repeat(`x\"\\\u00e9 {}é`, 400) + `","\"":{"b\"":"\\"},"c":"\\\""}{"type":"stdout","text":"a"}`, []string{"0 a"}},
		"text that is none":            {`{"type":"stdout","text":null}{"type":"stdout","text":["a"]}{"type":"stdout"}{"type":"stdout","text":""}`, nil},
		"a text that comes twice":      {`{"type":"stdout","text":"a","text":"b"}`, []string{"0 ab"}},
		"keys with escapes":            {`{"ty\u0070e":"result","\"\n":1}`, []string{`result {"\"\n":1}`}},
		"deep values":                  {`{"type":"result","data":` + strings.Repeat(`[{"a":`, 200) + "1" + strings.Repeat("}]", 200) + `}`, []string{`result {"data":` + strings.Repeat(`[{"a":`, 200) + "1" + strings.Repeat("}]", 200) + `}`}},
		"a number too long for others": {`{"type":"result","n":` + strings.Repeat("7", 5000) + `}`, []string{`result {"n":"` + strings.Repeat("7", 5000) + `"}`}},
		"an error":                     {`{"type":"error","name":"ZeroDivisionError","value":"division by zero","traceback":"a\nb"}`, []string{"error ZeroDivisionError|division by zero|a\nb"}},
		"an error as Jupyter has it":   {`{"type":"error","ename":"E","evalue":"v","traceback":["a","b"]}`, []string{"error E|v|a\nb"}},
		"an error below error":         {`{"type":"error","error":{"ename":"E","evalue":"v","traceback":[]}}`, []string{"error E|v|"}},
		"an error in words":            {`{"type":"error","message":"no"}`, []string{"error Error|no|"}},
		"an error of odd values":       {`{"type":"error","name":null,"value":{"a":1},"traceback":null}`, []string{`error |{"a":1}|`}},
		"a count that is none":         {`{"type":"number_of_executions","execution_count":null}{"type":"number_of_executions","execution_count":"x"}{"type":"number_of_executions"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 5, 7, 64, 1 << 20} {
				h, l, err := hear(t, c.answer, size)
				require.NoError(t, err, "pieces of %d", size)
				require.Equal(t, c.want, h.all, "pieces of %d", size)
				require.Equal(t, between, l.at)
			}
		})
	}
}

func TestLinesThatAreNone(t *testing.T) {
	for _, answer := range []string{
		"<html>", "[1]", "null", `"a"`, "event: x", `data: {"type":"stdout"}`, `{type:1}`, `{"a" 1}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`,
		`{"a":tru}`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":-}`, `{"a":+1}`, `{"a":nan}`, `{"a":[1}`, `{"a":{"b":1]}`, `{"a":[,]}`, `{"a":[1,]}`, `{"a":{"b"}}`,
		`{"type":"result","a":"\x"}`, `{"type":"result","a":"\u12g4"}`, "{\"type\":\"stdout\",\"text\":\"cut\n{\"type\":\"stdout\"}", "{\"type\":\"result\",\"text\":\"cut\n", "{\"type\":\"new\",\"a\":\"cut\n\"}", `{"type":"new","a":"\x"}`, `{"type":"new","a":"\u12g4"}`, `{"a":1}}`, `{"a":"b"]`,
		`{"a":` + strings.Repeat("[", 501) + `}`, `{"` + strings.Repeat("k", 2000) + `":1}`,
	} {
		for _, size := range []int{1, 1 << 20} {
			_, _, err := hear(t, answer, size)
			require.Error(t, err, "%.60s in pieces of %d", answer, size)
		}
	}
}

func TestALongMessageComesInPiecesOfOneSize(t *testing.T) {
	for _, unit := range []string{"a", "é", "😀", `\n`, `😀`, "x日"} {
		answer := `{"type":"stdout","text":"` + strings.Repeat(unit, 1<<20) + `"}`
		var want string
		require.NoError(t, json.Unmarshal([]byte(`"`+strings.Repeat(unit, 1<<20)+`"`), &want))
		var first []string
		for _, size := range []int{1000, 4096, 65536, 1 << 24} {
			h, _, err := hear(t, answer, size)
			require.NoError(t, err)
			var all strings.Builder
			for _, piece := range h.all {
				require.True(t, utf8.ValidString(piece))
				require.LessOrEqual(t, len(piece), pieceOfText+8)
				all.WriteString(piece[2:])
			}
			require.True(t, want == all.String(), "%q in pieces of %d", unit, size)
			if first == nil {
				first = h.all
			}
			require.Len(t, h.all, len(first))
		}
	}
}

func TestMemoryDoesNotGrowWithAResult(t *testing.T) {
	l := newLines(deaf{})
	_, err := l.push([]byte(`{"type":"result","png":"`))
	require.NoError(t, err)
	piece := bytes.Repeat([]byte("QUJD"), 16<<10)
	for range 400 {
		_, err := l.push(piece)
		require.NoError(t, err)
	}
	_, err = l.push([]byte(`"}{"type":"stdout","text":"`))
	require.NoError(t, err)
	for range 400 {
		_, err := l.push(piece)
		require.NoError(t, err)
	}
	require.Less(t, cap(l.dst)+cap(l.early), 4<<20)
}

// Every byte, at every place of what is looked at together.
func TestPlainEndsAtTheFirstByteThatIsNot(t *testing.T) {
	for length := range 80 {
		for at := range length {
			for c := range 256 {
				b := bytes.Repeat([]byte{' '}, length)
				b[length-1], b[at] = 0x7f, byte(c)
				want := length
				if c < ' ' || c >= utf8.RuneSelf {
					want = at
				}
				require.Equal(t, want, plain(b), "%d at %d of %d", c, at, length)
			}
		}
	}
}

// FuzzLines compares what lines say with encoding/json, whole and in pieces.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		`{"type":"stdout","text":"a\n\u00e9\ud83d\ude00"}`, `{"type":"result","text":"1","json":{"a":[1,2.5e3,true,null,"x"]}}`, `{"text":"x","type":"stderr"}`,
		`{"type":"error","name":"a","value":"b","traceback":"c"}`, `{"type":"number_of_executions","execution_count":1}`, "{\"type\":\"stdout\",\"text\":\"\xff\xe2\x82\"}",
		`{"type":"result","a":NaN}`, `{"a":"\ud800"}`, `{"type":"result","a":{"type":"stdout"}}`,
	} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, line string, size int) {
		size = max(1, min(size, 1<<16))
		whole, l, wholeErr := hear(t, line, 1<<30)
		cut, _, cutErr := hear(t, line, size)
		require.Equal(t, wholeErr == nil, cutErr == nil)
		if wholeErr == nil {
			require.Equal(t, whole.all, cut.all)
		}
		for _, said := range whole.all {
			require.True(t, utf8.ValidString(said), "%q", said)
			if object, ok := strings.CutPrefix(said, "result "); ok {
				require.True(t, json.Valid([]byte(object)), "%q", object)
			}
		}
		var m map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &m) != nil {
			return
		}
		for key := range m {
			if len(key) >= longestKey || strings.EqualFold(key, "type") != (key == "type") || strings.EqualFold(key, "text") != (key == "text") {
				return
			}
		}
		if strings.Count(line, `"`) > 0 && wholeErr != nil {
			require.Contains(t, []error{errDeep}, wholeErr, "encoding/json reads it")
			return
		}
		require.Equal(t, between, l.at)
		agree(t, line, m, whole.all)
	})
}

// agree compares a line that encoding/json reads too.
func agree(t *testing.T, line string, m map[string]json.RawMessage, said []string) {
	var kind, text string
	if json.Unmarshal(m["type"], &kind) != nil || strings.Count(line, "type") != 1 || strings.Count(line, "text") > 1 {
		return
	}
	switch kind {
	case "stdout", "stderr":
		if json.Unmarshal(m["text"], &text) != nil || text == "" || strings.ContainsRune(text, utf8.RuneError) {
			return // how many U+FFFD a broken sequence becomes is another matter
		}
		require.Len(t, said, 1)
		require.Equal(t, text, said[0][2:])
	case "result":
		require.Len(t, said, 1)
		var got map[string]any
		d := json.NewDecoder(strings.NewReader(strings.TrimPrefix(said[0], "result ")))
		d.UseNumber()
		require.NoError(t, d.Decode(&got))
		delete(m, "type")
		if !strings.ContainsRune(line, utf8.RuneError) && utf8.ValidString(line) && !strings.Contains(line, `\u`) {
			want := map[string]any{}
			b, err := json.Marshal(m)
			require.NoError(t, err)
			d = json.NewDecoder(bytes.NewReader(b))
			d.UseNumber()
			require.NoError(t, d.Decode(&want))
			require.Equal(t, want, got)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	small := strings.Repeat(`{"type": "stdout", "text": "line 12345\n", "timestamp": "2026-12-01T03:20:16.123456+00:00"}`+"\n", 1000)
	prints := `{"type": "stdout", "text": "` + strings.Repeat(`some words of a line of output, 12345\n`, 20000) + `", "timestamp": "2026"}` + "\n"
	wide := `{"type": "stdout", "text": "` + strings.Repeat(`\u65e5\u672c\u8a9e`, 20000) + `", "timestamp": "2026"}` + "\n"
	image := `{"type": "result", "png": "` + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1, 200, 7, 90}, 200000)) + `", "is_main_result": true}` + "\n"
	unknown := `{"type": "new", "a": "` + strings.Repeat(`some words of a line, 12345\n`, 20000) + `"}` + "\n"
	for name, line := range map[string]string{"unknown": unknown, "small": small, "prints": prints, "escapes": wide, "png": image} {
		b.Run(name, func(b *testing.B) {
			l := newLines(deaf{})
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				for rest := []byte(line); len(rest) > 0; {
					n := min(64<<10, len(rest))
					if _, err := l.push(rest[:n]); err != nil {
						b.Fatal(err)
					}
					rest = rest[n:]
				}
			}
		})
	}
}

package interpreter

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestResultLines(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, c := range map[string]struct {
		data         map[string]json.RawMessage
		main, update bool
		want         string
	}{
		"order of keys":   {map[string]json.RawMessage{"image/png": raw(`"p"`), "text/plain": raw(`"t"`), "text/html": raw(`"h"`)}, true, false, `{"type":"result","text":"t","html":"h","png":"p","is_main_result":true}`},
		"extra":           {map[string]json.RawMessage{"b/b": raw(`[1, "漢"]`), "a/a+json": raw("{\n \"x\": 1}")}, false, false, `{"type":"result","extra":{"a/a+json":{ "x": 1},"b/b":[1, "\u6f22"]},"is_main_result":false}`},
		"lists of lines":  {map[string]json.RawMessage{"text/html": raw(`["a\n", "b"]`), "text/plain": raw(`["c", "d"]`)}, false, true, `{"type":"result","text":"cd","html":"a\nb","update":true,"is_main_result":false}`},
		"JSON that lists": {map[string]json.RawMessage{"application/json": raw(`["a"]`)}, false, false, `{"type":"result","json":["a"],"is_main_result":false}`},
		"quotes":          {map[string]json.RawMessage{"text/plain": raw(`"'a'"`)}, true, false, `{"type":"result","text":"a","is_main_result":true}`},
		"one quote":       {map[string]json.RawMessage{"text/plain": raw(`"'"`)}, true, false, `{"type":"result","text":"'","is_main_result":true}`},
		"double quotes":   {map[string]json.RawMessage{"text/plain": raw(`"\"a\""`)}, true, false, `{"type":"result","text":"a","is_main_result":true}`},
		"unlike quotes":   {map[string]json.RawMessage{"text/plain": raw(`"'a\""`)}, true, false, `{"type":"result","text":"'a\"","is_main_result":true}`},
	} {
		require.Equal(t, c.want+"\n", string(resultLine(&display{Data: c.data}, c.main, c.update)), name)
	}
}

func TestHalvesOfSurrogatePairsAreReplaced(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83d\ude00"`:        `"\ud83d\ude00"`,
		`"\uD83D\uDE00 \u00e9"`: `"\uD83D\uDE00 \u00e9"`,
		`"a\ud83d"`:             `"a\ufffd"`,
		`"\ude00b"`:             `"\ufffdb"`,
		`"\ud83d\ud83d\ude00"`:  `"\ufffd\ud83d\ude00"`,
		`"\ud83d\n"`:            `"\ufffd\n"`,
		`"\\ud83d \ud83d"`:      `"\\ud83d \ufffd"`,
		`"\ud83d\u0041"`:        `"\ufffd\u0041"`,
	} {
		require.Equal(t, want, string(asciiJSON(nil, []byte(in))), in)
	}
}

func TestEnvironmentCodeOfLanguages(t *testing.T) {
	envs := map[string]string{"A": "it's \"$x\"\n\\"}
	for _, language := range []string{"python", "javascript", "typescript", "r", "bash"} {
		set, restore := environmentCode(language, envs)
		require.Contains(t, set, "A", language)
		require.NotEmpty(t, restore, language)
	}
	set, _ := environmentCode("cobol", envs)
	require.Empty(t, set)
	text := "v"
	_, err := checkEnvs("cobol", map[string]*string{"A": &text})
	require.ErrorContains(t, err, "not supported")
	_, err = checkEnvs("bash", map[string]*string{"A-B": &text})
	require.ErrorContains(t, err, "shell variable")
}

func FuzzLinesSayTheSame(f *testing.F) {
	f.Add("a漢🌍\u2028\n\x00<b>")
	f.Add("\xff\xfe")
	f.Fuzz(func(t *testing.T, s string) {
		raw, _ := json.Marshal(s)
		for _, line := range [][]byte{asciiJSON(nil, raw), asciiText(nil, s), asciiJSON(nil, []byte("\""+strings.Trim(string(raw), "\"")+"\""))} {
			for _, c := range line {
				if c >= utf8.RuneSelf || c < ' ' {
					t.Fatalf("%q has %q", line, c)
				}
			}
		}
		var back, want string
		require.NoError(t, json.Unmarshal(asciiJSON(nil, raw), &back))
		require.NoError(t, json.Unmarshal(raw, &want))
		require.Equal(t, want, back)
	})
}

func FuzzUsualStream(f *testing.F) {
	for _, text := range []string{`a\n\"漢\u00e9`, `a"b`, `\`, `\u12`, `\x`, "a\x01b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		content := `{"name": "stdout", "text": "` + text + `"}`
		var want struct{ Name, Text string }
		err := json.Unmarshal([]byte(content), &want)
		name, raw := usualStream([]byte(content))
		if raw == nil {
			if err == nil && want.Text != "" && json.Valid([]byte(`"`+text+`"`)) {
				t.Fatalf("%q is usual", content)
			}
			return
		}
		var line struct{ Type, Text string }
		got := streamLine(name, raw, "now")
		require.NoError(t, json.Unmarshal(got, &line), "%q", got)
		if err == nil {
			require.Equal(t, want.Text, line.Text)
		}
	})
}

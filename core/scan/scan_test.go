package scan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// read reads t into the values that encoding/json gives, as far as scan can.
func read(t *Text) (any, bool) {
	t.Space()
	if len(*t) == 0 {
		return nil, false
	}
	switch c := (*t)[0]; c {
	case '{':
		m := map[string]any{}
		ok := t.Object(func(key string, t *Text) bool {
			v, ok := read(t)
			m[key] = v
			return ok
		})
		return m, ok
	case '[':
		a := []any{}
		ok := t.Array(func(t *Text) bool {
			v, ok := read(t)
			a = append(a, v)
			return ok
		})
		return a, ok
	case '"':
		return t.String()
	case 't', 'f':
		return t.Bool()
	}
	n, ok := t.Int()
	return float64(n), ok
}

func whole(text string) (any, bool) {
	t := Text(text)
	v, ok := read(&t)
	return v, ok && t.End()
}

func TestWhatIsPlainIsRead(t *testing.T) {
	for _, text := range []string{
		`{"status":200,"headers":[["a","b"],["c",""]]}`, ` { "a" : [ ] , "b" : { } } `, `"a\"\\\/\n\t\r\b\f"`, `"é😀"`,
		`-12`, `0`, `true`, `false`, `[1,2,[3]]`, `9007199254740991`,
	} {
		got, ok := whole(text)
		require.True(t, ok, text)
		var want any
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		require.Equal(t, want, got, text)
	}
}

func TestTheRestIsRefused(t *testing.T) {
	for _, text := range []string{
		``, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `"`, `"\`, `"\u0041"`, `"\x"`, "\"\n\"", `1.5`, `1e3`, `01`, `-`, `--1`,
		`tru`, `null`, `{}x`, "\"\xff\"", `99999999999999999999`,
	} {
		_, ok := whole(text)
		require.False(t, ok, text)
	}
}

func FuzzScanAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{`{"a":["b",1,true]}`, `"\n"`, `-0`, `{"a":{"b":[]}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := whole(text)
		if !ok {
			return
		}
		var want any
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		require.Equal(t, want, got)
	})
}

func FuzzAppendStringIsReadBack(f *testing.F) {
	f.Add("a\"\\\n\x00\u2028é")
	f.Fuzz(func(t *testing.T, s string) {
		var got, want string
		require.NoError(t, json.Unmarshal(AppendString(nil, s), &got))
		b, err := json.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &want))
		require.Equal(t, want, got)
	})
}

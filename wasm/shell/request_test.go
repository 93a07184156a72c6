package shell

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// decoded is what a JSON decoder makes of text.
func decoded(text []byte) (*request, error) {
	r := &request{}
	return r, json.Unmarshal(text, r)
}

var requests = []string{
	`{}`, ` { } `, `{"method":"a.b"}`, `{"method":"a.b","client":{"x":[1,"}",{"y":"\""}]},"sandbox":null,"params":{"p":"é\\"},"request_timeout_ms":5}`,
	"{ \"params\" : [ ] ,\n\"method\"\t:\r\"m\" , \"other\" : -1.5e3 , \"client\":true }", `{"method":"escaped\u0041"}`, `{"meth\u006fd":"x"}`,
	`{"request_timeout_ms":null,"params":""}`, `{"method":1}`, `{"params":}`, `{"params":{}`, `{"params":{}}x`, `{"params" {}}`, `{"a":1,}`, `{,}`, `[]`, ``, `{"method":"x"`,
	`{"params":[}`, `{"client":{"a":1}},`, `{"request_timeout_ms":"5"}`, `{"method":"m" "params":{}}`, `{"params":"\`,
}

func TestARequestIsReadAsADecoderReadsIt(t *testing.T) {
	for _, text := range requests {
		want, failed := decoded([]byte(text))
		got, err := readRequest([]byte(text))
		if failed != nil && err == nil {
			// What stands inside a part is found when the part is read.
			require.False(t, json.Valid(got.Client) && json.Valid(got.Sandbox) && json.Valid(got.Params), text)
			continue
		}
		require.Equal(t, failed == nil, err == nil, text)
		if err == nil {
			require.Equal(t, want, got, text)
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, text := range requests {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var names map[string]json.RawMessage
		if json.Unmarshal(text, &names) != nil {
			_, _ = readRequest(text)
			return
		}
		r := &request{}
		if !r.split(text) {
			return
		}
		for name, part := range map[string]json.RawMessage{"client": r.Client, "sandbox": r.Sandbox, "params": r.Params} {
			require.Equal(t, string(names[name]), string(part), name)
		}
	})
}

func TestTextsAreReadOnceAndFewAreKept(t *testing.T) {
	var kept texts[int]
	reads := 0
	read := func([]byte) (*int, error) { reads++; return new(int), nil }
	for range 3 {
		_, err := kept.read([]byte("a"), read)
		require.NoError(t, err)
	}
	require.Equal(t, 1, reads)
	for i := range 2 * maxTexts {
		_, _ = kept.read([]byte{'b', byte(i), byte(i >> 8)}, read)
	}
	require.LessOrEqual(t, len(kept.known), maxTexts)
}

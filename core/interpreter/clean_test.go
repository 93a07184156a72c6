package interpreter

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCleanGivesJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                              `{}`,
		`{"a": NaN, "b": [1, -Infinity]}`: `{"a":null,"b":[1,null]}`,
		` {"a":{"b":"c\u0041"}} `:         `{"a":{"b":"cA"}}`,
		"{\"a\":\"\xff\"}":                `{"a":"` + "\ufffd" + `"}`,
	} {
		got, err := Clean([]byte(in))
		require.NoError(t, err, in)
		require.JSONEq(t, want, string(got))
	}
	for _, in := range []string{``, `[]`, `{`, `{"a"}`, `{} {}`, `{"a":nan}`} {
		_, err := Clean([]byte(in))
		require.Error(t, err, in)
	}
}

func FuzzCleanAgreesWithTheStandardLibrary(f *testing.F) {
	f.Add([]byte(`{"a":[1,"b",{"c":null}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := Clean(in)
		if err == nil {
			require.True(t, json.Valid(got), "%s", got)
		}
	})
}

package connect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func TestSecretsAreHidden(t *testing.T) {
	const long = "e2b_0123456789abcdef"
	for _, c := range []struct{ key, said, shown string }{
		{long, "bad key " + long + ", sorry", "bad key ***, sorry"},
		{long, "x" + long + long + "y", "x******y"},
		{"wrong", "something is wrong: the API key is wrong", "something is wrong: the API key is wrong"},
		{"wrong", `{"message":"wrong key, sorry"}`, `{"message":"wrong key, sorry"}`},
		{"wrong", `the key "wrong" or 'wrong' is not known`, `the key "***" or '***' is not known`},
		{"wrong", `api_key=wrong&a=wrongly`, `api_key=***&a=wrongly`},
		{"wrong", `the key \"wrong\"`, `the key \"***\"`},
		{"wrong", "wrong", "***"},
		{"key-1", "a key-1", "a ***"},
		{"key", "a key", "a key"},
		{"key", `"key"`, `"key"`}, // too short to be one
		{"pass", "http://u:pass@h/pass", "http://u:***@h/***"},
	} {
		s := SecretsOf(transport.Header{{"X-API-Key", c.key}})
		require.Equal(t, c.shown, string(s.Hide([]byte(c.said))))
	}
}

func TestABrokenAnswerShowsNoTokenThatIsNotKnownYet(t *testing.T) {
	for _, answer := range []string{
		`{"sandboxID":"a","envdAccessToken":"s3cr3t`,
		`{"trafficAccessToken":["s3cr3t"]}`,
		`{"sandboxID":5,"` + strings.Repeat("x", 40) + `":1,"envd_access_TOKEN":"s3cr3t"}`,
	} {
		require.NotContains(t, Secrets(nil).Breach("JSON", []byte(answer)).Error(), "s3c")
	}
	require.Contains(t, Secrets(nil).Breach("JSON", []byte("<html>")).Error(), "<html>")
}

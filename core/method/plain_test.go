package method

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/scan"
)

func TestPlainParametersAreReadAsEncodingJSONReadsThem(t *testing.T) {
	for text, isPlain := range map[string]bool{
		`{}`:                 true,
		`{"command":"true"}`: true,
		`{"command":"a \"b\"\n","cwd":"/","user":"root","tag":"t","stdin":true,"check":false,"timeout_ms":0,"idle_timeout_ms":-5,"request_timeout_ms":60000}`: true,
		`{"command":"\u00e9"}`:                false,
		`{"argv":["a"]}`:                      false,
		`{"command":"a","envs":{"A":"b"}}`:    false,
		`{"command":"a","timeout_ms":null}`:   false,
		`{"command":"a","future":{"is":[1]}}`: false,
	} {
		var got, whole CommandsRun
		require.NoError(t, json.Unmarshal([]byte(text), &whole))
		require.Equal(t, isPlain, got.scan(scan.Text(text)), text)
		if isPlain {
			require.Equal(t, whole, got, text)
		} else {
			require.Zero(t, got, text)
		}
	}
}

func TestPlainResultsAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	for _, value := range []scan.Appender{
		(*CommandEnd)(nil), &CommandEnd{}, &CommandEnd{ExitCode: -1, ExecutionTimeMS: 12},
		&CommandEnd{ExitCode: 137, Signal: "killed", Error: "é \"out of memory\"\n"},
		started{PID: 1<<32 - 1},
	} {
		want, err := json.Marshal(value)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(value.AppendJSON(nil)))
	}
}

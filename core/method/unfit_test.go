package method

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

func TestParametersThatDoNotFitAreExplainedInTheCallersTerms(t *testing.T) {
	for _, c := range []struct{ method, params, option, message string }{
		{"commands.run", `{"envs": {"A": 1}}`, "envs", "envs: values must be text, not a number"},
		{"commands.run", `{"envs": 5}`, "envs", "envs must be an object, not a number"},
		{"commands.run", `{"argv": ["a", null, {}]}`, "argv", "argv: each must be text, not an object"},
		{"commands.run", `{"envs": {"A": "1", "B": null}}`, "envs", "envs: values must be text, not null"},
		{"commands.run", `{"argv": ["a", null]}`, "argv", "argv: each must be text, not null"},
		{"sandbox.create", `{"metadata": {"null": null}}`, "metadata", "metadata: values must be text, not null"},
		{"sandbox.create", `{"network": {"allow_out": ["a", null]}}`, "network.allow_out", "network.allow_out: each must be text, not null"},
		{"commands.run", `{"cwd": ["a"]}`, "cwd", "cwd must be text, not a list"},
		{"commands.run", `{"timeout_ms": 1.5}`, "timeout_ms", "timeout_ms must be a whole number, not 1.5"},
		{"commands.run", `{"timeout_ms": "5"}`, "timeout_ms", "timeout_ms must be a whole number, not text"},
		{"commands.run", `{"stdin": "yes"}`, "stdin", "stdin must be true or false, not text"},
		{"commands.kill", `{"pid": -1}`, "pid", "pid must be a whole number from 0 up, not -1"},
		{"sandbox.create", `{"cpu_count": true}`, "cpu_count", "cpu_count must be a number, not true or false"},
		{"sandbox.create", `{"mounts": [{"source": 1}]}`, "mounts.source", "mounts.source must be text, not a number"},
		{"sandbox.create", `{"network": {"allow_out": "x"}}`, "network.allow_out", "network.allow_out must be a list, not text"},
		{"files.write_files", `{"files": [{"source": {"id": -1}}]}`, "files.source.id", "files.source.id must be a whole number from 0 up, not -1"},
		{"sandbox.run_code", `{"code": "x='\ud83d'"}`, "code", "code cannot be sent: text must be valid Unicode, without lone surrogates"},
		{"sandbox.run_code", `{"code": "\ud83d\u0041"}`, "code", "code cannot be sent: text must be valid Unicode, without lone surrogates"},
		{"sandbox.run_code", `{"code": "\\\uDE00"}`, "code", "code cannot be sent: text must be valid Unicode, without lone surrogates"},
		{"commands.run", `{"command": "true", "envs": {"A": "\udc80"}}`, "envs", "envs cannot be sent: text must be valid Unicode, without lone surrogates"},
		{"commands.run", `{`, "", "the parameters cannot be read"},
	} {
		t.Run(c.method+" "+c.params, func(t *testing.T) {
			_, err := find(t, c.method).Run(context.Background(), &Call{Params: json.RawMessage(c.params)})
			require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
			require.Equal(t, fault.Option(c.option), fault.As(err).Option)
			message, _ := fault.As(err).Spelled(inTable)
			require.Equal(t, c.message, message)
		})
	}
}

func TestOnlyHalvesOfSurrogatePairsAreLone(t *testing.T) {
	for text, want := range map[string]bool{
		`"\ud83d\ude00"`: false, `"\uD83D\uDE00x"`: false, `"\\ud83d"`: false, `"\\\\ud83d"`: false, `"\u00e9 \n\"😀"`: false,
		`"\ud83d"`: true, `"\ude00\ud83d"`: true, `"\ud83d\ude00\ude00"`: true, `"\ud83d\\ude00"`: true, `"\\\ud83d"`: true,
	} {
		require.Equal(t, want, lone([]byte(text)), text)
	}
}

func TestSettingsThatDoNotFitAreNamedAlone(t *testing.T) {
	_, err := NewAccount([]byte(`{"arguments": {"api_key": 5}}`))
	message, _ := fault.As(err).Spelled(inTable)
	require.Equal(t, "api_key must be text, not a number", message)
	require.Equal(t, "APIKey must be text, not a number", fault.As(err).Message)
}

func inTable(o fault.Option) string { return string(o) }

func find(t *testing.T, name string) *Method {
	for _, m := range Table() {
		if m.Name == name {
			return &m
		}
	}
	require.FailNow(t, "no method "+name)
	return nil
}

package fault

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOptionsAreSpelledAsTheCallerWritesThem(t *testing.T) {
	e := InvalidArgument("%s %q needs 100%% of %s, not %d", Option("keep_memory"), "50% timeout_ms", Option("on_timeout"), 3).
		Suggest("set %s", Option("network.allow_out"))
	require.Equal(t, `KeepMemory "50% timeout_ms" needs 100% of OnTimeout, not 3`, e.Message)
	require.Equal(t, "set Network.AllowOut", e.Suggestion)
	require.Equal(t, Option("keep_memory"), e.Option)
	message, suggestion := e.Spelled(func(o Option) string { return "--" + strings.ReplaceAll(string(o), "_", "-") })
	require.Equal(t, `--keep-memory "50% timeout_ms" needs 100% of --on-timeout, not 3`, message)
	require.Equal(t, "set --network.allow-out", suggestion)

	parts, _ := e.Parts()
	require.Equal(t, []Part{{}, {Option: "keep_memory"}, {Text: ` "50% timeout_ms" needs 100% of `}, {Option: "on_timeout"}, {Text: ", not 3"}}, parts)
}

func TestAMessageThatWasChangedIsShownAsItIs(t *testing.T) {
	e := InvalidArgument("%s is empty", Option("path"))
	e.Message += "!"
	message, suggestion := e.Spelled(func(Option) string { return "x" })
	require.Equal(t, "path is empty!", message)
	require.Empty(t, suggestion)
	parts, _ := e.Parts()
	require.Nil(t, parts)
}

func TestGoSpellsOptionsAsItsFields(t *testing.T) {
	for option, name := range map[Option]string{
		"timeout_ms": "Timeout", "request_timeout_ms": "RequestTimeout", "api_url": "APIURL", "memory_mb": "MemoryMB", "cpu_count": "CPUCount",
		"path": "path", "sandbox_id": "id", "user": "User", "": "", "a__b": "AB",
	} {
		require.Equal(t, name, option.String())
	}
}

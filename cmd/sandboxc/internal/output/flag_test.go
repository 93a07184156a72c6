package output

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

func TestErrorsNameOptionsAsTheCommandLineDoes(t *testing.T) {
	for option, flag := range map[fault.Option]string{
		"timeout_ms": "--timeout", "on_timeout": "--on-timeout", "envs": "-e", "mounts": "--mount", "mounts.source": "--mount source",
		"api_key": "E2B_API_KEY", "min_isolation": "SANDBOX_MIN_ISOLATION",
	} {
		e := fault.InvalidArgument("%s is wrong", option).Suggest("change %s", option)
		shown := Explain(e)
		require.Equal(t, flag+" is wrong", shown.Message)
		require.Equal(t, "change "+flag, shown.Suggestion)
		require.NotEqual(t, shown.Message, e.Message, "the error itself stays as it is: others may hold it")
	}
}

package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

func TestErrorsAreOneLineOrOneObject(t *testing.T) {
	err := fault.New(fault.CodeSandboxNotFound, "no sandbox %q\nsecond", "x").Suggest("look")
	err.SandboxID, err.RetryAfter = "ix", 1500*time.Millisecond
	var out, errs bytes.Buffer
	p := &Printer{Out: &out, Err: &errs}
	require.Equal(t, ExitNotFound, p.Fail(err, ExitCode))
	require.Empty(t, out.String())
	require.Equal(t, "sandboxc: E2005: no sandbox \"x\"\\x0asecond (look), see docs/errors.md\n", errs.String())

	errs.Reset()
	p.JSON = true
	require.Equal(t, ExitOurFailure, p.Fail(err, CommandExitCode))
	require.Empty(t, errs.String())
	var got map[string]map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Equal(t, map[string]any{
		"code": "E2005", "message": "no sandbox \"x\"\nsecond", "suggestion": "look", "docs": "docs/errors.md", "sandbox_id": "ix", "retry_after": 1.5,
	}, got["error"])
}

func TestExitCodes(t *testing.T) {
	for code, want := range map[fault.Code]int{
		fault.CodeInvalidArgument: 2, fault.CodeInvalidAPIKey: 3, fault.CodeForbidden: 3, fault.CodeSandboxNotFound: 4,
		fault.CodeTemplateNotFound: 4, fault.CodeFileNotFound: 4, fault.CodeRequestTimeout: 5, fault.CodeQuotaExceeded: 6,
		fault.CodeConnectFailed: 1, fault.CodeInternal: 1, "": 1,
	} {
		require.Equal(t, want, ExitCode(code), code)
	}
	require.Equal(t, 124, CommandExitCode(fault.CodeCommandTimeout))
	require.Equal(t, 125, CommandExitCode(fault.CodeRequestTimeout))
	require.Equal(t, 125, CommandExitCode(fault.CodeInvalidArgument))
	require.Equal(t, 77, (&Printer{}).Fail(Status(77), ExitCode))
}

func TestForeignErrorsGetACode(t *testing.T) {
	_, err := os.Open("/no/such/file")
	require.Equal(t, fault.CodeInvalidArgument, Explain(err).Code)
	require.Equal(t, fault.CodeInternal, Explain(errors.New("x")).Code)
}

func TestTextOfOthersCannotMoveTheCursor(t *testing.T) {
	require.Equal(t, `a\x1b[2Jb\x0d\x0a\x9b`, Clean("a\x1b[2Jb\r\n\u009b"))
	require.Equal(t, "grüße", Clean("grüße"))
	var out bytes.Buffer
	require.NoError(t, (&Printer{Out: &out}).Table(nil, []string{"A"}, [][]string{{"x\x1b]0;evil\a"}}))
	require.NotContains(t, out.String(), "\x1b")
}

package daemon

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStartStreamsStartOutputEnd(t *testing.T) {
	r := newRig(t)
	got := r.stream("process.Process/Start", shell("echo out; sleep 0.1; echo err >&2"))
	require.Len(t, got, 5)
	require.True(t, strings.HasPrefix(got[0], `{"event":{"start":{"pid":`), got[0])
	require.Equal(t, []string{
		`{"event":{"data":{"stdout":"` + b64("out\n") + `"}}}`,
		`{"event":{"data":{"stderr":"` + b64("err\n") + `"}}}`,
		`{"event":{"end":{"exited":true,"status":"exit status 0"}}}`,
		`{}`,
	}, got[1:])
}

func TestEndSaysHowTheCommandEnded(t *testing.T) {
	r := newRig(t)
	for script, end := range map[string]string{
		"exit 3":      `{"event":{"end":{"exitCode":3,"exited":true,"status":"exit status 3","error":"exit status 3"}}}`,
		"kill -9 $$":  `{"event":{"end":{"exitCode":-1,"status":"signal: killed","error":"signal: killed"}}}`,
		"kill -15 $$": `{"event":{"end":{"exitCode":-1,"status":"signal: terminated","error":"signal: terminated"}}}`,
	} {
		got := r.stream("process.Process/Start", shell(script))
		require.Equal(t, []string{end, `{}`}, got[1:], script)
	}
}

package shell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// unfound is a CALL of a host that has not looked for the local server.
func unfound(op uint32, arguments, method, params string) []byte {
	text := `{"method":"` + method + `","client":{"arguments":` + arguments + `},"sandbox":` +
		strings.Replace(testSandbox, "e2b", "local", 1) + `,"params":` + params + `}`
	return frame.Append(nil, frame.Frame{Op: op, Kind: frame.Call, Payload: frame.Mixed([]byte(text))}, nil)
}

func TestWhatNeedsNoRequestWorksBeforeTheLocalServerIsFound(t *testing.T) {
	for method, params := range map[string]string{
		"sandbox.open":         `{"handle":` + strings.Replace(testSandbox, "e2b", "local", 1) + `}`,
		"sandbox.get_url":      `{"port":80}`,
		"sandbox.describe":     `{}`,
		"sandbox.capabilities": `{}`,
	} {
		t.Run(method, func(t *testing.T) {
			p := newPlay(t)
			p.only(p.give(unfound(1, `{"provider":"local"}`, method, params)), frame.Result)
		})
	}
}

func TestNothingIsSentToAServiceForTheLocalServer(t *testing.T) {
	for name, arguments := range map[string]string{
		"no key": `{"provider":"local"}`,
		"a key":  `{"provider":"local","api_key":"s3cr3t-key"}`,
		"domain": `{"provider":"local","domain":"example.test"}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			all := p.give(unfound(1, arguments, "sandbox.kill", `{}`))
			require.Equal(t, "E5001", p.json(p.only(all, frame.Error))["code"])
			require.Len(t, all, 2) // and DONE: no request
		})
	}
}

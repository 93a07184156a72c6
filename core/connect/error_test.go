package connect

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func TestFailureKeepsTheStatusWhateverTheBody(t *testing.T) {
	for _, body := range []string{"", "null", "[]", "{", `{"code":{},"message":[]}`, "<html>", "\xff\xfe", strings.Repeat("x", 1<<20)} {
		e := Failure(&transport.Response{Status: 503}, []byte(body), nil)
		require.Equal(t, 503, e.Status)
		require.Equal(t, "unavailable", e.Code)
		require.True(t, e.Plain)
		require.NotEmpty(t, e.Message)
		require.NotContains(t, e.Message, "<html")
		require.LessOrEqual(t, len(e.Message), maxMessageText+len("…"))
	}
}

func TestFailureReadsAConnectError(t *testing.T) {
	e := Failure(&transport.Response{Status: 404}, []byte(`{"code":"not_found","message":"no such file","details":[{}]}`), nil)
	require.Equal(t, Error{Code: "not_found", Message: "no such file", Said: true, Status: 404}, *e)
}

func TestFailureReadsAGatewaysError(t *testing.T) {
	e := Failure(&transport.Response{Status: 502}, []byte(`{"sandboxId":"i1","message":"port is not open","port":8080,"code":502}`), nil)
	require.Equal(t, Error{Code: "unavailable", Message: "port is not open", Said: true, Status: 502, Plain: true, SandboxID: "i1", Port: 8080}, *e)
}

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-1": 0, "1.5": 0, "+1": 0, " 1": 0, "2147483647": 2147483647 * time.Second, "2147483648": 0,
		"99999999999999999999": 0, "Wed, 21 Oct 2026 07:28:00 GMT": 0,
	} {
		require.Equal(t, want, RetryAfter(transport.Header{{"Retry-After", text}}), text)
	}
}

func TestSecretsAreHiddenWhereverTheyStand(t *testing.T) {
	s := SecretsOf(transport.Header{{"X-API-Key", "key-1"}, {"authorization", "Bearer t"}, {"x-access-token", "abc"}, {"accept", "application/json"}})
	require.Equal(t, "a *** b *** abc application/json", string(s.Hide([]byte("a key-1 b Bearer t abc application/json"))))
}

func TestBreachShowsNoPartOfASecret(t *testing.T) {
	s := Secrets{[]byte("secret-token")}
	for at := range 80 {
		p := s.Breach("x", []byte(strings.Repeat("y", at)+"secret-token"))
		require.NotContains(t, p.Error(), "sec", "at %d", at)
	}
}

func FuzzFailure(f *testing.F) {
	f.Add(500, `{"code":"internal","message":"x"}`)
	f.Add(404, "<html>")
	f.Fuzz(func(t *testing.T, status int, body string) {
		e := Failure(&transport.Response{Status: status}, []byte(body), Secrets{[]byte("hidden")})
		require.NotEmpty(t, e.Message)
		require.NotEmpty(t, e.Code)
		require.True(t, utf8.ValidString(e.Message))
		require.LessOrEqual(t, len(e.Message), maxMessageText+len("…"))
		require.False(t, strings.ContainsAny(e.Message, "\x00\x1b\r\x7f"))
	})
}

func TestATinyClockDoesNotReadAsNone(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 400 * time.Microsecond: "400µs", 1500600 * time.Microsecond: "1.501s", time.Minute: "1m0s",
	} {
		require.Equal(t, want, Seconds(d))
	}
}

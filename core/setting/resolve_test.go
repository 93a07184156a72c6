package setting

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

func TestPrintsShowNoKey(t *testing.T) {
	a := Arguments{APIKey: "s3cr3t", Provider: "e2b"}
	s, err := Resolve(Input{Arguments: a})
	require.NoError(t, err)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{a, &a, *s, s, []Arguments{a}, struct{ S Settings }{*s}} {
			require.NotContains(t, fmt.Sprintf(format, v), "s3cr3t", "%s of %T", format, v)
		}
	}
}

func TestErrorsShowNoKey(t *testing.T) {
	for _, in := range []Input{
		{Arguments: Arguments{APIKey: "s3cr3t\n"}},
		{Env: map[string]string{"E2B_API_KEY": "s3cr3t é"}},
		{DotEnv: []byte("E2B_API_KEY=s3cr3t\x01")},
		{Config: []byte(`api_key = "s3cr3t`)},
		{Arguments: Arguments{APIKey: "k", APIURL: "http://u:s3cr3t@x"}},
		{Arguments: Arguments{APIKey: "k"}, Env: map[string]string{"E2B_API_URL": "http://x?token=s3cr3t"}},
	} {
		_, err := Resolve(in)
		require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "s3cr3t")
	}
}

func TestVariablesAreAskedForOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range Variables() {
		require.False(t, seen[name], name)
		require.NotEmpty(t, name)
		seen[name] = true
	}
	for _, name := range []string{"E2B_API_KEY", "E2B_API_URL", "E2B_DOMAIN", "E2B_SANDBOX_URL", "E2B_DEBUG", "SANDBOX_PROVIDER", "HTTPS_PROXY", "no_proxy", "SSL_CERT_FILE"} {
		require.True(t, seen[name], name)
	}
}

func FuzzResolve(f *testing.F) {
	f.Add([]byte("E2B_API_KEY=x"), []byte("provider = \"e2b\""), "1.5", "a.test")
	f.Fuzz(func(t *testing.T, dotEnv, config []byte, timeout, domain string) {
		s, err := Resolve(Input{DotEnv: dotEnv, Config: config, Env: map[string]string{"SANDBOX_HTTP_TIMEOUT": timeout, "E2B_DOMAIN": domain}})
		if err != nil {
			require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
			return
		}
		require.GreaterOrEqual(t, s.RequestTimeout, 0*s.RequestTimeout)
		require.NotContains(t, s.Domain, "/")
		require.NotEmpty(t, s.Provider)
	})
}

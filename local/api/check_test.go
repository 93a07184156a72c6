package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCreateRefusesWhatCannotWork(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"no template":              {`{}`, "templateID is missing"},
		"env name with equals":     {`{"templateID":"base","envVars":{"A=B":"c"}}`, "equals sign"},
		"empty env name":           {`{"templateID":"base","envVars":{"":"c"}}`, "name is empty"},
		"env name with blank":      {`{"templateID":"base","envVars":{"A B":"c"}}`, "blank"},
		"NUL in env value":         {`{"templateID":"base","envVars":{"A":"a\u0000b"}}`, "NUL"},
		"NUL in env name":          {`{"templateID":"base","envVars":{"A\u0000":"b"}}`, "control character"},
		"NUL in metadata":          {`{"templateID":"base","metadata":{"A":"a\u0000b"}}`, "NUL"},
		"empty metadata key":       {`{"templateID":"base","metadata":{"":"b"}}`, "key is empty"},
		"number as metadata":       {`{"templateID":"base","metadata":{"a":1}}`, `must be a string, not number`},
		"list as metadata":         {`{"templateID":"base","metadata":[]}`, `"metadata" must be an object`},
		"memory off without pause": {`{"templateID":"base","autoPauseMemory":false}`, "needs autoPause"},
		"memory off with resume":   {`{"templateID":"base","autoPause":true,"autoPauseMemory":false,"autoResume":{"enabled":true}}`, "cannot be combined"},
		"resume without pause":     {`{"templateID":"base","autoResume":{"enabled":true}}`, "autoResume needs autoPause"},
		"private without secret":   {`{"templateID":"base","secure":false,"network":{"allowPublicTraffic":false}}`, "secured sandbox"},
		"mask that is no host":     {`{"templateID":"base","network":{"maskRequestHost":"a/b"}}`, "not a host name"},
		"tiny memory":              {`{"templateID":"base","memoryMB":1}`, "memoryMB"},
		"negative disk":            {`{"templateID":"base","diskSizeMB":-1}`, "diskSizeMB"},
		"no cpu":                   {`{"templateID":"base","cpuCount":0}`, "cpuCount"},
		"relative mount":           {`{"templateID":"base","hostMounts":[{"source":"a","target":"/b"}]}`, "source"},
		"mount over the root":      {`{"templateID":"base","hostMounts":[{"source":"/a","target":"/"}]}`, "target"},
		"mount that climbs":        {`{"templateID":"base","hostMounts":[{"source":"/a","target":"/b/../../c"}]}`, "target"},
		"mount twice":              {`{"templateID":"base","hostMounts":[{"source":"/a","target":"/b"},{"source":"/c","target":"/b"}]}`, "twice"},
		"mount over proc":          {`{"templateID":"base","hostMounts":[{"source":"/a","target":"/proc/sys"}]}`, "own"},
		"mount over usr":           {`{"templateID":"base","hostMounts":[{"source":"/a","target":"/usr"}]}`, "own"},
		"broken JSON":              {`{"templateID":`, "not valid JSON"},
		"no object":                {`[]`, "must be a JSON object"},
		"nothing":                  {` `, "is empty"},
		"fraction as timeout":      {`{"templateID":"base","timeout":1.5}`, `"timeout" must be an integer`},
	} {
		t.Run(name, func(t *testing.T) {
			var n NewSandbox
			err := Decode([]byte(c.body), false, &n)
			if err == nil {
				err = n.Check()
			}
			var fault *Fault
			require.ErrorAs(t, err, &fault)
			require.Equal(t, http.StatusBadRequest, fault.Code)
			require.Contains(t, fault.Message, c.want)
		})
	}
}

func TestCreateSaysWhatThisProviderLacks(t *testing.T) {
	for _, body := range []string{
		`{"templateID":"base","volumeMounts":[{"name":"v","path":"/v"}]}`,
		`{"templateID":"base","network":{"dnsServers":["1.1.1.1"]}}`,
		`{"templateID":"base","network":{"egressProxy":{"address":"a:1","tls":true}}}`,
		`{"templateID":"base","iam":{"tokens":{"a":{}}}}`,
		`{"templateID":"base","autoPause":true,"autoPauseMemory":false}`,
	} {
		var n NewSandbox
		require.NoError(t, Decode([]byte(body), false, &n))
		var fault *Fault
		require.ErrorAs(t, n.Check(), &fault)
		require.Equal(t, http.StatusNotImplemented, fault.Code, body)
	}
}

func TestCreateTakesWhatClientsSend(t *testing.T) {
	body := `{"templateID":" Base:default ","metadata":{"a b":"c&d=é"},"envVars":{"npm_config_x":"1"},
		"autoPause":true,"autoPauseMemory":true,"autoResume":{"enabled":true},"mcp":null,"unknownField":{"x":[1]},
		"network":{"allowPublicTraffic":true,"maskRequestHost":"localhost:${PORT}"},"iam":{"tokens":{}},
		"hostMounts":[{"source":"/srv","target":"/mnt/x","write":true}],"cpuCount":0.5,"memoryMB":512,"diskSizeMB":1024}`
	var n NewSandbox
	require.NoError(t, Decode([]byte(body), false, &n))
	require.NoError(t, n.Check())
	require.True(t, n.Pauses())
	require.True(t, n.Resumes())
	require.True(t, n.PublicTraffic())
	require.Equal(t, "base", TemplateName(n.TemplateID))
}

func TestLifetime(t *testing.T) {
	seconds := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		given     *int64
		unlimited bool
		want      time.Duration
		fault     string
	}{
		"absent":             {nil, false, time.Minute, ""},
		"one":                {seconds(1), false, time.Second, ""},
		"none where allowed": {seconds(0), true, 0, ""},
		"none elsewhere":     {seconds(0), false, 0, "greater than 0"},
		"negative":           {seconds(-1), true, 0, "negative"},
		"huge":               {seconds(1 << 60), true, 0, "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Lifetime(c.given, time.Minute, c.unlimited)
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, d)
		})
	}
}

func TestIdempotencyKeyRule(t *testing.T) {
	require.NoError(t, CheckIdempotencyKey("0f-a"))
	require.NoError(t, CheckIdempotencyKey(strings.Repeat("a", 255)))
	for _, key := range []string{"", "A", "a b", "é", strings.Repeat("a", 256)} {
		require.Error(t, CheckIdempotencyKey(key), key)
	}
}

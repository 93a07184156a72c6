package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHosts(t *testing.T) {
	for host, want := range map[string]struct{ loopback, control bool }{
		"localhost":                    {true, true},
		"localhost:3000":               {true, true},
		"LocalHost.:3000":              {true, true},
		"127.0.0.1:1":                  {true, true},
		"[::1]:1":                      {true, true},
		"[::1]":                        {true, true},
		"api.localhost:3000":           {true, true},
		"49983-iabc.localhost:3000":    {true, false},
		"sandbox.localhost":            {true, false},
		"evil.example":                 {false, false},
		"localhost.evil.example":       {false, false},
		"127.0.0.1.evil.example":       {false, false},
		"evillocalhost":                {false, false},
		"127.0.0.2":                    {false, false},
		"10.0.0.1:3000":                {false, false},
		"":                             {false, false},
		"49983-iabc.localhost.evil.ex": {false, false},
	} {
		require.Equal(t, want.loopback, LoopbackHost(host), host)
		require.Equal(t, want.control, ControlHost(host), host)
	}
}

func TestOrigins(t *testing.T) {
	o, err := NewOrigins([]string{"https://App.example/", "http://dev.example:8080"})
	require.NoError(t, err)
	for origin, want := range map[string]bool{
		"http://localhost:5173":                true,
		"https://localhost":                    true,
		"http://127.0.0.1:80":                  true,
		"http://[::1]:9":                       true,
		"https://app.example":                  true,
		"https://app.example:443":              true,
		"http://app.example":                   false,
		"https://app.example:444":              false,
		"https://app.example.evil":             false,
		"http://dev.example:8080":              true,
		"http://dev.example":                   false,
		"http://3000-iabc.localhost:5173":      false,
		"http://3000-iabc.localhost.":          false,
		"http://other.localhost":               false,
		"http://localhost.evil.example":        false,
		"http://localhost@evil.example":        false,
		"null":                                 false,
		"":                                     false,
		"file://":                              false,
		"chrome-extension://localhost":         false,
		"http://localhost:5173/path":           false,
		"http://evil.example#http://localhost": false,
	} {
		require.Equal(t, want, o.Allowed(origin), origin)
	}
	require.Error(t, o.Add("null"))
	require.Error(t, o.Add("http://3000-iabc.localhost:1"))
	_, err = NewOrigins([]string{"*"})
	require.Error(t, err)
}

func request(headers map[string]string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/sandboxes", nil)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return r
}

func TestKeys(t *testing.T) {
	k := NewKeys("secret")
	page, err := k.PageKey("https://app.example")
	require.NoError(t, err)
	own, err := k.PageKey("http://example.com") // what httptest calls itself
	require.NoError(t, err)
	for name, c := range map[string]struct {
		headers map[string]string
		want    Grant
	}{
		"none":               {nil, Denied},
		"right":              {map[string]string{"X-API-Key": "secret"}, Owner},
		"bearer":             {map[string]string{"Authorization": "Bearer secret"}, Owner},
		"wrong":              {map[string]string{"X-API-Key": "secre"}, Denied},
		"longer":             {map[string]string{"X-API-Key": "secrets"}, Denied},
		"empty bearer":       {map[string]string{"Authorization": "Bearer "}, Denied},
		"page at home":       {map[string]string{"X-API-Key": page, "Origin": "https://app.example"}, Page},
		"page elsewhere":     {map[string]string{"X-API-Key": page, "Origin": "https://other.example"}, Denied},
		"page without":       {map[string]string{"X-API-Key": page}, Denied},
		"page from null":     {map[string]string{"X-API-Key": page, "Origin": "null"}, Denied},
		"page's own GET":     {map[string]string{"X-API-Key": own, "Sec-Fetch-Site": "same-origin"}, Page},
		"another's own GET":  {map[string]string{"X-API-Key": page, "Sec-Fetch-Site": "same-origin"}, Denied},
		"own from elsewhere": {map[string]string{"X-API-Key": own, "Sec-Fetch-Site": "cross-site"}, Denied},
		"owner on some page": {map[string]string{"X-API-Key": "secret", "Origin": "https://x.example"}, Owner},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, k.Check(request(c.headers))) })
	}
}

func TestHealthProofIsNoPageKey(t *testing.T) {
	k := NewKeys("secret")
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte("challenge"))
	require.Equal(t, hex.EncodeToString(mac.Sum(nil)), k.Prove("challenge"))
	page, err := k.PageKey("http://localhost:1")
	require.NoError(t, err)
	require.NotContains(t, page, k.Prove("http://localhost:1"))
}

func FuzzOrigin(f *testing.F) {
	f.Add("http://localhost:1")
	f.Add("http://3000-iabc.localhost")
	f.Fuzz(func(t *testing.T, origin string) {
		if canonical, err := canonicalOrigin(origin); err == nil {
			again, err := canonicalOrigin(canonical)
			require.NoError(t, err)
			require.Equal(t, canonical, again)
		}
	})
}

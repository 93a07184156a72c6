package egress

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func header(name, value string) map[string][]HeaderRule {
	return map[string][]HeaderRule{"http://a.test": {{Transform: &Transform{Headers: map[string]string{name: value}}}}}
}

func domains(n int) map[string][]HeaderRule {
	m := map[string][]HeaderRule{}
	for i := range n {
		m[fmt.Sprintf("d%d.test", i)] = nil
	}
	return m
}

func headers(n int) map[string][]HeaderRule {
	m := header("x", "y")
	for i := 1; i < n; i++ {
		m["http://a.test"][0].Transform.Headers[fmt.Sprint("x", i)] = "y"
	}
	return m
}

func TestValidRules(t *testing.T) {
	for name, r := range map[string]Rules{
		"none":         {},
		"addresses":    {AllowOut: []string{"8.8.8.8", "1.0.0.0/8", "2620:fe::fe", "0.0.0.0/0"}, DenyOut: []string{"10.0.0.1/8", "::/0"}},
		"domains":      {AllowOut: []string{"a.test", "*.a.test", "*"}, DenyOut: []string{"0.0.0.0/0"}},
		"ten domains":  {Transform: domains(10)},
		"20 headers":   {Transform: headers(20)},
		"long header":  {Transform: header(strings.Repeat("n", 64), strings.Repeat("v", 2048))},
		"https ports":  {HTTPSPorts: []int{8443, 1, 65535}},
		"egress proxy": {EgressProxy: &Proxy{Address: "[::1]:1080", Username: "u", Password: "p"}},
	} {
		require.NoError(t, r.Validate(), name)
	}
}

func TestInvalidRules(t *testing.T) {
	for want, r := range map[string]Rules{
		domainsNeedBlockAll:                {AllowOut: []string{"a.test"}, DenyOut: []string{"10.0.0.0/8"}},
		"invalid denied CIDR a.test":       {DenyOut: []string{"a.test"}},
		"invalid denied CIDR ::ffff:0:0":   {DenyOut: []string{"::ffff:0:0"}},
		`"8.8.8.8:80"`:                     {AllowOut: []string{"8.8.8.8:80"}},
		`"127.1"`:                          {AllowOut: []string{"127.1"}, DenyOut: []string{"0.0.0.0/0"}},
		`"a.*.test"`:                       {AllowOut: []string{"a.*.test"}, DenyOut: []string{"0.0.0.0/0"}},
		"invalid https port 49983":         {HTTPSPorts: []int{49983}},
		"invalid https port 0":             {HTTPSPorts: []int{0}},
		"at most 10 domains":               {Transform: domains(11)},
		"at most 1 transform":              {Transform: map[string][]HeaderRule{"http://a.test": {{}, {}}}},
		"at most 20 headers":               {Transform: headers(21)},
		"invalid header name":              {Transform: header(strings.Repeat("n", 65), "v")},
		"has an invalid header name":       {Transform: header("a:b", "v")},
		"invalid value of header":          {Transform: header("n", strings.Repeat("v", 2049))},
		"has an invalid value":             {Transform: header("n", "a\r\nb: c")},
		"may not set header Host":          {Transform: header("Host", "x")},
		"secrets and identity tokens":      {Transform: header("n", "${e2b.secrets.k}")},
		"cannot change headers inside TLS": {Transform: map[string][]HeaderRule{"a.test": header("n", "v")["http://a.test"]}},
		"invalid network rule domain":      {Transform: map[string][]HeaderRule{strings.Repeat("a.", 65) + "test": nil}},
		"must be host:port":                {EgressProxy: &Proxy{Address: "proxy"}},
		"password but no user":             {EgressProxy: &Proxy{Address: "p:1", Password: "hunter2"}},
	} {
		err := r.Validate()
		var bad *InvalidError
		require.ErrorAs(t, err, &bad, want)
		require.Contains(t, bad.Message, want)
		require.NotContains(t, bad.Message, "hunter2")
	}
}

func TestParseRulesReadsTheWire(t *testing.T) {
	off := false
	r, err := ParseRules(json.RawMessage(`{"allowOut":["a.test"],"denyOut":["0.0.0.0/0"],"httpsPorts":[8443],"maskRequestHost":"x",
		"rules":{"http://a.test":[{"transform":{"headers":{"k":"v"}}}]},"egressProxy":{"address":"p:1080","username":"u","password":"w"}}`), &off)
	require.NoError(t, err)
	require.Equal(t, "v", r.Transform["http://a.test"][0].Transform.Headers["k"])
	require.Equal(t, "u", r.EgressProxy.Username)
	for _, empty := range []string{"", "null", "{}", `{"egressProxy":null}`} {
		r, err := ParseRules(json.RawMessage(empty), nil)
		require.NoError(t, err, empty)
		require.Equal(t, Rules{}, r, empty)
	}
	for _, bad := range []string{`[]`, `{"allowOut":"x"}`, `{`, `{"egressProxy":{"address":1,"password":"hunter2"}}`} {
		_, err := ParseRules(json.RawMessage(bad), nil)
		var invalid *InvalidError
		require.ErrorAs(t, err, &invalid, bad)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestInternetOffDeniesAll(t *testing.T) {
	off := false
	w := newWorld(t)
	w.open(Rules{AllowInternet: &off, AllowOut: []string{"9.9.9.9"}})
	s := w.policy.ruleset()
	require.Equal(t, refuse, w.policy.judge(s, addr("8.8.8.8"), 443))
	require.Equal(t, refuse, w.policy.judge(s, addr("2620:fe::fe"), 443))
	require.Equal(t, allow, w.policy.judge(s, addr("9.9.9.9"), 443), "what is allowed by name of address always wins")
}

package inside

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/egress/wire"
)

func TestSocksRequests(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		want  wire.Request
	}{
		"name": {append([]byte{5, 1, 0, 3, 4}, "host\x01\xbb"...), wire.Request{Kind: wire.Connect, Host: "host", Port: 443}},
		"ipv4": {[]byte{5, 1, 0, 1, 9, 8, 7, 6, 0, 80}, wire.Request{Kind: wire.Connect, Host: "9.8.7.6", Port: 80}},
		"ipv6": {append([]byte{5, 1, 0, 4}, "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x50"...), wire.Request{Kind: wire.Connect, Host: "2001:db8::1", Port: 80}},
	} {
		got, command, err := readSocks(bytes.NewReader(c.bytes))
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.EqualValues(t, socksConnect, command)
	}
	for name, b := range map[string][]byte{
		"unknown kind": {5, 1, 0, 2, 1, 1, 1, 1, 1, 1}, "empty name": {5, 1, 0, 3, 0, 0, 80}, "port 0": {5, 1, 0, 1, 1, 1, 1, 1, 0, 0},
		"another version": {4, 1, 0, 1, 1, 1, 1, 1, 0, 80}, "cut": {5, 1, 0, 1, 1},
	} {
		_, _, err := readSocks(bytes.NewReader(b))
		require.Error(t, err, name)
	}
}

func FuzzReadSocks(f *testing.F) {
	f.Add([]byte{5, 1, 0, 1, 9, 8, 7, 6, 0, 80})
	f.Fuzz(func(t *testing.T, b []byte) {
		q, _, err := readSocks(bytes.NewReader(b))
		if err != nil {
			return
		}
		_, err = q.Append(nil)
		require.NoError(t, err)
	})
}

func TestProxyTargets(t *testing.T) {
	for in, want := range map[string]wire.Request{
		"a.test:8443":       {Kind: wire.Connect, Host: "a.test", Port: 8443},
		"a.test":            {Kind: wire.Connect, Host: "a.test", Port: 80},
		"[2001:db8::1]:443": {Kind: wire.Connect, Host: "2001:db8::1", Port: 443},
		"[2001:db8::1]":     {Kind: wire.Connect, Host: "2001:db8::1", Port: 80},
	} {
		got, ok := target(in, 80)
		require.True(t, ok, in)
		require.Equal(t, want, got)
	}
	for _, bad := range []string{"", ":80", "a:0", "a:99999", "a:x"} {
		_, ok := target(bad, 80)
		require.False(t, ok, bad)
	}
}

func TestVariablesNameTheProxyInBothCases(t *testing.T) {
	require.ElementsMatch(t, []string{
		"HTTP_PROXY=http://127.0.0.1:61001", "http_proxy=http://127.0.0.1:61001", "HTTPS_PROXY=http://127.0.0.1:61001", "https_proxy=http://127.0.0.1:61001",
		"ALL_PROXY=http://127.0.0.1:61001", "all_proxy=http://127.0.0.1:61001",
		"NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1",
	}, proxyEnv(61001))
}

func TestLongAnswersAreCutForUDP(t *testing.T) {
	long := append([]byte{0, 7, 0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0}, make([]byte, 2000)...)
	got := truncate(long)
	require.Equal(t, []byte{0, 7, 0x83, 0x80, 0, 0, 0, 0, 0, 0, 0, 0}, got)
	require.Equal(t, long[:100], truncate(long[:100]))
}

package egress

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// hello makes the bytes of a real ClientHello.
func hello(t testing.TB, name string) []byte {
	a, b := net.Pipe()
	defer func() { _ = a.Close(); _ = b.Close() }()
	go func() {
		_ = tls.Client(a, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	}()
	buf := make([]byte, 16<<10)
	_ = b.SetReadDeadline(time.Now().Add(5 * time.Second))
	n, err := b.Read(buf)
	require.NoError(t, err)
	return buf[:n]
}

func TestServerNameIsReadHoweverItArrives(t *testing.T) {
	whole := hello(t, "Site.test")
	for cut := range len(whole) {
		o, done := parseOpening(whole[:cut])
		require.False(t, done, "%d of %d bytes are not enough", cut, len(whole))
		require.Empty(t, o.name)
	}
	o, done := parseOpening(whole)
	require.True(t, done && o.tls)
	require.Equal(t, "site.test", o.name)
	// The same in records of 100 bytes.
	var split []byte
	for body := whole[5:]; len(body) > 0; {
		n := min(100, len(body))
		split = append(append(split, 0x16, 3, 1, 0, byte(n)), body[:n]...)
		body = body[n:]
	}
	o, done = parseOpening(split)
	require.True(t, done)
	require.Equal(t, "site.test", o.name)
	o, done = parseOpening(hello(t, "192.0.2.1"))
	require.True(t, done && o.tls)
	require.Empty(t, o.name, "addresses are not sent as names")
}

func TestHostIsRead(t *testing.T) {
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: A.test\r\n\r\n":                  "a.test",
		"GET / HTTP/1.1\r\nhost: a.test:8080\r\nX: y\r\n\r\nbody": "a.test",
		"GET http://b.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n":    "b.test",
		"GET / HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n\r\n":        "2001:db8::1",
		"GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n":  "",
		"GET / HTTP/1.1\r\n\r\n":                                  "",
		"GET / HTTP/1.1\r\nHost: 127.1\r\n\r\n":                   "",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                        "",
		"SSH-2.0-OpenSSH\r\n\r\n":                                 "",
		"\x00\x01":                                                "",
	} {
		o, done := parseOpening([]byte(request))
		require.True(t, done, request)
		require.Equal(t, want, o.name, request)
	}
	_, done := parseOpening([]byte("GET / HTTP/1.1\r\nHost: a.test\r\n"))
	require.False(t, done)
}

func TestSniffIsBounded(t *testing.T) {
	a, b := net.Pipe()
	defer func() { _ = b.Close() }()
	go func() {
		_, _ = b.Write([]byte("GET /" + strings.Repeat("a", 64<<10)))
	}()
	o, err := sniff(a)
	require.NoError(t, err)
	require.Len(t, o.bytes, maxPeek)
	require.Empty(t, o.name)
	require.NoError(t, a.Close())
}

func FuzzParseOpening(f *testing.F) {
	f.Add(hello(f, "site.test"))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"))
	f.Add([]byte{0x16, 3, 1, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		o, _ := parseOpening(b)
		require.True(t, bytes.Equal(b, o.bytes))
		if _, err := netip.ParseAddr(o.name); o.name != "" && err != nil {
			require.Equal(t, o.name, canonical(o.name))
		}
	})
}

func BenchmarkServerName(b *testing.B) {
	h := hello(b, "site.test")
	for b.Loop() {
		parseOpening(h)
	}
}

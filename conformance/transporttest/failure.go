package transporttest

import (
	"crypto/tls"
	"net"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func failureTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"refused connection":                refusedConnection,
		"unresolvable name":                 unresolvableName,
		"TLS with a private authority":      privateAuthority,
		"TLS with an unknown authority":     unknownAuthority,
		"TLS to a peer that speaks none":    tlsToPlain,
		"TLS handshake cut":                 tlsCut,
		"FIN before the head":               finBeforeHead,
		"RST before the head":               resetBeforeHead,
		"a peer that does not speak HTTP":   notHTTP,
		"failures show no query and no key": failuresKeepSecrets,
	}
}

func (s *suite) kind(want transport.NetKind, neverSent bool, url string) {
	s.Helper()
	e := s.netError(fetching(&transport.Request{
		Method: "POST", URL: url + "/p?signature=sEcReT",
		Header: transport.Header{{"X-Api-Key", "sEcReT"}}, Body: transport.Body{Bytes: []byte("sEcReT")},
	}))
	require.Equal(s, want, e.Kind, e.Error())
	require.Equal(s, neverSent, e.NeverSent())
	require.NotEmpty(s, e.Message)
	require.NotContains(s, e.Error(), "sEcReT")
	if e.Cause != nil {
		require.NotContains(s, e.Cause.Error(), "sEcReT")
	}
}

// closedPort is an address where nobody listens.
func (s *suite) closedPort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(s, err)
	defer l.Close()
	return l.Addr().String()
}

func refusedConnection(s *suite) {
	address := s.closedPort()
	s.kind(transport.NetRefused, true, "http://"+address)
	e := s.netError(fetching(get("http://" + address)))
	require.Equal(s, address, e.Host)
}

func unresolvableName(s *suite) { s.kind(transport.NetResolve, true, "http://no-such-host.invalid") }

func privateAuthority(s *suite) {
	p := s.tlsPeer(s.authority.config(), always(hello))
	require.Equal(s, "hello", s.do(fetching(get(p.url))))
}

func unknownAuthority(s *suite) {
	p := s.tlsPeer(newAuthority(s.T).config(), always(hello))
	s.kind(transport.NetTLS, true, p.url)
}

func tlsToPlain(s *suite) {
	p := s.peer(func(c *conn) { c.send("HTTP/1.1 400 Bad Request\r\n\r\n"); c.gone() })
	s.kind(transport.NetTLS, true, "https"+p.url[len("http"):])
}

func tlsCut(s *suite) {
	p := s.peer(func(c *conn) {
		_, _ = c.r.ReadByte()
		c.reset()
	})
	s.kind(transport.NetTLS, true, "https"+p.url[len("http"):])
}

func finBeforeHead(s *suite) {
	p := s.peer(func(c *conn) { c.skip() })
	s.kind(transport.NetReset, false, p.url)
	p = s.peer(func(c *conn) { c.skip(); c.send("HTTP/1.1 200 OK\r\nX-") })
	s.kind(transport.NetReset, false, p.url)
	p = s.tlsPeer(&tls.Config{Certificates: []tls.Certificate{s.authority.cert}}, func(c *conn) { c.skip() })
	s.kind(transport.NetReset, false, p.url)
}

func resetBeforeHead(s *suite) {
	p := s.peer(func(c *conn) { c.skip(); c.reset() })
	s.kind(transport.NetReset, false, p.url)
}

func notHTTP(s *suite) {
	p := s.peer(func(c *conn) { c.skip(); c.send("SSH-2.0-OpenSSH\r\n\r\n"); c.gone() })
	s.kind(transport.NetOther, false, p.url)
}

func failuresKeepSecrets(s *suite) {
	s.kind(transport.NetRefused, true, "http://user:sEcReT@"+s.closedPort())
}

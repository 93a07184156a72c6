package native

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// parseURL takes only absolute URLs of the given schemes. Its errors never show
// the URL: a query may hold a signature.
func parseURL(raw string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, unusable("the URL cannot be parsed")
	}
	if !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" {
		return nil, unusable("the URL needs a host and the scheme " + strings.Join(schemes, " or "))
	}
	return u, nil
}

// checkHeader refuses what would end a header line. net/http would refuse it as
// well, but late and without a name.
func checkHeader(h transport.Header) error {
	for _, f := range h {
		if !httpguts.ValidHeaderFieldName(f[0]) {
			return unusable("a header name has a character that HTTP does not allow")
		}
		if !httpguts.ValidHeaderFieldValue(f[1]) {
			return unusable("the value of header " + f[0] + " has a character that HTTP does not allow")
		}
	}
	return nil
}

func unusable(message string) error {
	return &transport.NetError{Kind: transport.NetOther, Message: message}
}

// hostPort is the address of u with the port spelled out.
func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" || u.Scheme == "wss" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// isLocalhost tells whether a name means this machine by RFC 6761 6.3. The
// system's resolver often does not know its subdomains.
func isLocalhost(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return isLocalhost(name) || ip != nil && ip.IsLoopback()
}

// poolLocalhost gives every plain *.localhost name the connections of localhost:
// they are one server, and the Host header says which sandbox is meant. A new
// sandbox so costs no new connection, and a dead one leaves none.
func poolLocalhost(u *url.URL) {
	if u.Scheme == "http" && isLocalhost(u.Hostname()) {
		_, port, _ := net.SplitHostPort(hostPort(u))
		u.Host = net.JoinHostPort("localhost", port)
	}
}

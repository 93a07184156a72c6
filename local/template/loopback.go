package template

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/egress"
)

// An index that listens on this machine's loopback has another name inside, where
// loopback is the sandbox's own. Only the ports that the host's own settings name
// are reached by it, as with every registry.
const loopbackName = "host-loopback.internal"

// loopbackAddr is what the name leads to inside; it is dialled as this machine's
// loopback.
var loopbackAddr = netip.AddrFrom4([4]byte{198, 18, 0, 1})

// takeURLs is takeURL for several, between blanks.
func (s *settings) takeURLs(value string) string {
	words := strings.Fields(value)
	for i, w := range words {
		words[i] = s.takeURL(w)
	}
	return strings.Join(words, "\n\t")
}

// takeURL gives what a URL is called inside. What is no URL stays.
func (s *settings) takeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !onLoopback(u.Hostname()) {
		return raw
	}
	u.Host = withName(u)
	inner := u.String()
	s.inner = append(s.inner, (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}).String())
	return inner
}

// takeKey is takeURL for npm's names of credentials, as //host:1/:_authToken.
func (s *settings) takeKey(name string) string {
	host, rest, ok := strings.Cut(strings.TrimPrefix(name, "//"), "/")
	if !ok || !strings.HasPrefix(name, "//") {
		return name
	}
	u := &url.URL{Scheme: "http", Host: host}
	if !onLoopback(u.Hostname()) {
		return name
	}
	return "//" + withName(u) + "/" + rest
}

func withName(u *url.URL) string {
	if port := u.Port(); port != "" {
		return net.JoinHostPort(loopbackName, port)
	}
	return loopbackName
}

func onLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// network is the host side of the network of a build.
func (s *settings) network(environ []string, log *slog.Logger) *egress.Host {
	o := egress.HostOptions{Registries: true, Env: environ, Log: log}
	if len(s.inner) > 0 {
		o.Env = s.named(environ)
		o.Resolver, o.Dial = loopbackResolver{}, dialLoopback
	}
	return egress.NewHost(o)
}

// named adds the URLs to the host's own registries, and keeps them from its proxies.
func (s *settings) named(environ []string) []string {
	values := map[string]string{}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok {
			values[name] = value
		}
	}
	direct := values["NO_PROXY"]
	if direct == "" {
		direct = values["no_proxy"]
	}
	return append(environ[:len(environ):len(environ)],
		"PIP_EXTRA_INDEX_URL="+strings.TrimSpace(values["PIP_EXTRA_INDEX_URL"]+" "+strings.Join(s.inner, " ")),
		"NO_PROXY="+strings.Trim(direct+","+loopbackName, ","))
}

// loopbackResolver knows one name beside those of this machine's resolver.
type loopbackResolver struct{}

// LookupNetIP implements egress.Resolver.
func (loopbackResolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if strings.TrimSuffix(host, ".") == loopbackName {
		return []netip.Addr{loopbackAddr}, nil
	}
	return net.DefaultResolver.LookupNetIP(ctx, network, host)
}

func dialLoopback(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	address := to.String()
	if to.Addr() == loopbackAddr {
		address = net.JoinHostPort("localhost", strconv.Itoa(int(to.Port())))
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}

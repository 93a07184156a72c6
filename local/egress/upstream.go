package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
)

// maxProxyHead bounds a proxy's answer to CONNECT, in bytes.
const maxProxyHead = 16 << 10

// upstream is the host's own HTTP(S)_PROXY with its NO_PROXY. nil is none.
type upstream struct {
	choose func(*url.URL) (*url.URL, error)
}

// upstreamOf reads the proxy variables, both cases.
func upstreamOf(env []string) *upstream {
	get := getter(env)
	either := func(name string) string {
		if v := get(name); v != "" {
			return v
		}
		return get(strings.ToLower(name))
	}
	config := httpproxy.Config{HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"), NoProxy: either("NO_PROXY")}
	if config.HTTPProxy == "" && config.HTTPSProxy == "" {
		return nil
	}
	return &upstream{choose: config.ProxyFunc()}
}

// getter looks up NAME=value pairs; the last of a name counts.
func getter(env []string) func(string) string {
	values := map[string]string{}
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok {
			values[name] = value
		}
	}
	return func(name string) string { return values[name] }
}

// proxyFor gives the proxy for a host:port, nil for none.
func (u *upstream) proxyFor(hostport string) *url.URL {
	if u == nil {
		return nil
	}
	scheme := "https"
	if strings.HasSuffix(hostport, ":80") {
		scheme = "http"
	}
	proxy, err := u.choose(&url.URL{Scheme: scheme, Host: hostport})
	if err != nil {
		return nil
	}
	return proxy
}

// takes tells whether connections to a host, a name or an address, go to the proxy.
func (u *upstream) takes(host string) bool {
	return u.proxyFor(net.JoinHostPort(host, "443")) != nil || u.proxyFor(net.JoinHostPort(host, "80")) != nil
}

// wholeURL gives the HTTP proxy that takes plain requests to a host with their whole
// URL: many proxies refuse CONNECT to port 80. nil when there is none.
func (u *upstream) wholeURL(host string) *url.URL {
	proxy := u.proxyFor(net.JoinHostPort(host, "80"))
	if proxy == nil || (proxy.Scheme != "http" && proxy.Scheme != "https") {
		return nil
	}
	return proxy
}

// authorization is the value of Proxy-Authorization, "" for none.
func authorization(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}

// dial asks the proxy for a tunnel with CONNECT.
func (u *upstream) dial(ctx context.Context, hostport string) (splice.Conn, error) {
	proxy := u.proxyFor(hostport)
	if proxy == nil {
		// Only one of the two proxy variables is set: the other kind of traffic
		// goes by it too, since the name was never resolved here.
		if proxy = u.proxyFor(swapScheme(hostport)); proxy == nil {
			return nil, errProxy
		}
	}
	c, err := reach(ctx, proxy)
	if err != nil {
		return nil, err
	}
	done := within(ctx, c)
	defer done()
	if err := tunnel(c, proxy, hostport); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func swapScheme(hostport string) string {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport
	}
	if port == "80" {
		return net.JoinHostPort(host, "443")
	}
	return net.JoinHostPort(host, "80")
}

// reach connects to the proxy itself, with TLS for an https proxy.
func reach(ctx context.Context, proxy *url.URL) (splice.Conn, error) {
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[proxy.Scheme]
	}
	if port == "" {
		port = "80"
	}
	address := net.JoinHostPort(proxy.Hostname(), port)
	d := &net.Dialer{KeepAlive: keepAlive}
	var c net.Conn
	var err error
	if proxy.Scheme == "https" {
		c, err = (&tls.Dialer{NetDialer: d}).DialContext(ctx, "tcp", address)
	} else {
		c, err = d.DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return nil, fmt.Errorf("reach the host's proxy: %w", err)
	}
	return stream(c, nil)
}

func tunnel(c net.Conn, proxy *url.URL, hostport string) error {
	if strings.HasPrefix(proxy.Scheme, "socks5") {
		password, _ := proxy.User.Password()
		return socksHandshake(c, &Proxy{Username: proxy.User.Username(), Password: password}, hostport)
	}
	request := "CONNECT " + hostport + " HTTP/1.1\r\nHost: " + hostport + "\r\n"
	if secret := authorization(proxy); secret != "" {
		request += "Proxy-Authorization: " + secret + "\r\n"
	}
	if _, err := c.Write([]byte(request + "\r\n")); err != nil {
		return err
	}
	return readTunnel(c)
}

// readTunnel reads byte by byte: what follows the head is the server's.
func readTunnel(c net.Conn) error {
	head := make([]byte, 0, 256)
	for !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		var b [1]byte
		if _, err := c.Read(b[:]); err != nil {
			return errors.Join(errProxy, err)
		}
		if head = append(head, b[0]); len(head) > maxProxyHead {
			return errProxy
		}
	}
	line, _, _ := bytes.Cut(head, []byte("\r\n"))
	fields := bytes.Fields(line)
	if len(fields) < 2 || !bytes.HasPrefix(fields[0], []byte("HTTP/1.")) || !bytes.HasPrefix(fields[1], []byte("2")) {
		return errProxy
	}
	return nil
}

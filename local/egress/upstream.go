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
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
)

// maxProxyHead bounds a proxy's answer to CONNECT, in bytes.
const maxProxyHead = 16 << 10

// upstream is the host's own HTTP(S)_PROXY with its NO_PROXY, and the proxies that
// its package tools use for their registries. The zero value has none.
type upstream struct {
	choose func(*url.URL) (*url.URL, error)
	tools  func() map[string]*url.URL // by host:port
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
		return &upstream{}
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
	if u.choose != nil {
		scheme := "https"
		if strings.HasSuffix(hostport, ":80") {
			scheme = "http"
		}
		if proxy, err := u.choose(&url.URL{Scheme: scheme, Host: hostport}); err == nil && proxy != nil {
			return proxy
		}
	}
	if u.tools != nil {
		return u.tools()[hostport]
	}
	return nil
}

// takes tells whether connections to a host, a name or an address, go to a proxy
// on a port; 0 is any of the usual ports.
func (u *upstream) takes(host string, port uint16) bool {
	if port == 0 {
		return u.takes(host, 443) || u.takes(host, 80)
	}
	return u.proxyFor(net.JoinHostPort(host, strconv.Itoa(int(port)))) != nil
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
		return nil, errProxy
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

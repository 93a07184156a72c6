package native

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Sizes and limits of the connection pools.
const (
	idleConns        = 512 // in all: as many sandboxes can be talked to in turn
	idleConnsPerHost = 128 // the local server is one host for all its sandboxes
	idleConnLife     = 55 * time.Second
	connBuffer       = 64 << 10
	dialLimit        = 30 * time.Second // a request clock is usually shorter
	pingAfter        = 20 * time.Second // silence on HTTP/2 before a ping
	pingLimit        = 10 * time.Second // then the connection is dead
)

// newTransport configures net/http. It is used below http.Client: no redirect is
// followed, no cookie kept.
func newTransport(life context.Context, o HostOptions) (*http.Transport, error) {
	proxy, err := proxyFunc(o)
	if err != nil {
		return nil, err
	}
	roots, err := trusted(o)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            dialer(life),
		TLSClientConfig:        &tls.Config{RootCAs: roots, ClientSessionCache: tls.NewLRUClientSessionCache(idleConns)},
		TLSHandshakeTimeout:    dialLimit,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           idleConns,
		MaxIdleConnsPerHost:    idleConnsPerHost,
		IdleConnTimeout:        idleConnLife,
		ReadBufferSize:         connBuffer,
		WriteBufferSize:        connBuffer,
		MaxResponseHeaderBytes: 1 << 20,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingLimit},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
			if r.StatusCode != http.StatusOK {
				return &proxyRefusedError{r.StatusCode}
			}
			return nil
		},
	}, nil
}

// newSocketClient shares everything with plain but HTTP/2, over which coder's
// library cannot upgrade. Its transport also carries what is to be alone.
func newSocketClient(plain *http.Transport) *http.Client {
	t := plain.Clone()
	t.ForceAttemptHTTP2 = false
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.TLSClientConfig.NextProtos = []string{"http/1.1"} // Clone has noted that plain offers HTTP/2
	t.TLSNextProto = nil
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dialer connects *.localhost to loopback itself, and gives up with the host.
func dialer(life context.Context) dialFunc {
	d := &net.Dialer{Timeout: dialLimit, KeepAlive: 15 * time.Second}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(life, func() { cancel(context.Cause(life)) })()
		conn, err := dialAny(ctx, d, network, address)
		if err != nil {
			return nil, &dialError{err, address}
		}
		return &watchedConn{Conn: conn}, nil
	}
}

func dialAny(ctx context.Context, d *net.Dialer, network, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil || !isLocalhost(name) {
		return d.DialContext(ctx, network, address)
	}
	conn, err := d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err == nil || ctx.Err() != nil {
		return conn, err
	}
	if conn, err6 := d.DialContext(ctx, network, net.JoinHostPort("::1", port)); err6 == nil {
		return conn, nil
	}
	return nil, err
}

// proxyFunc is the proxy of a request. Loopback has none.
func proxyFunc(o HostOptions) (func(*http.Request) (*url.URL, error), error) {
	if o.Proxy == "direct" {
		return nil, nil
	}
	c := httpproxy.Config{
		HTTPProxy:  either(o.Getenv, "HTTP_PROXY", "http_proxy"),
		HTTPSProxy: either(o.Getenv, "HTTPS_PROXY", "https_proxy"),
		NoProxy:    either(o.Getenv, "NO_PROXY", "no_proxy"),
	}
	if o.Proxy != "" {
		c = httpproxy.Config{HTTPProxy: o.Proxy, HTTPSProxy: o.Proxy}
	}
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return nil, nil
	}
	for _, raw := range []string{c.HTTPProxy, c.HTTPSProxy} {
		if _, err := url.Parse(raw); err != nil {
			return nil, errors.New("the proxy setting is no URL") // its text may hold a password
		}
	}
	choose := c.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) {
		if isLoopback(r.URL.Hostname()) {
			return nil, nil
		}
		return choose(r.URL)
	}, nil
}

func either(getenv func(string) string, names ...string) string {
	for _, n := range names {
		if v := getenv(n); v != "" {
			return v
		}
	}
	return ""
}

// trusted is the system's authorities and those of the CA file; nil is the
// system's alone, which crypto/tls loads when it needs them.
func trusted(o HostOptions) (*x509.CertPool, error) {
	file := o.CAFile
	if file == "" {
		file = o.Getenv("SSL_CERT_FILE")
	}
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the CA file cannot be read: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("the CA file %s holds no certificate", file)
	}
	return roots, nil
}

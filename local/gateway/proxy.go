package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
)

// proxy carries r to the sandbox and the answer back, both as they come.
func (g *Gateway) proxy(w http.ResponseWriter, r *http.Request, to route, target Target, in *intake) {
	buffer := &choice{small: g.small, large: g.large}
	carrier := httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { rewrite(p, to, target) },
		Transport:     target.Transport(),
		FlushInterval: -1,
		BufferPool:    buffer,
		ErrorLog:      g.log,
		ModifyResponse: func(resp *http.Response) error {
			in.announce(resp.Header, resp.ContentLength)
			buffer.choose(resp.ContentLength)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			in.refuse(w.Header(), r)
			failure(err, to, target).write(w, r)
		},
	}
	carrier.ServeHTTP(w, r)
}

// rewrite turns a request to the gateway into one to the sandbox. Path and
// query pass byte for byte.
func rewrite(p *httputil.ProxyRequest, to route, target Target) {
	out := p.Out
	out.URL.Scheme, out.URL.Host = "http", Address(to.port)
	out.URL.RawQuery = p.In.URL.RawQuery
	// The daemon sends its 100 when it reads; the wait has happened here.
	out.Header.Del("Expect")
	// Keys of the server are none of the sandbox's business.
	out.Header.Del("X-Api-Key")
	out.Header.Del(headerTraffic)
	if _, named := out.Header["User-Agent"]; !named {
		out.Header.Set("User-Agent", "")
	}
	if mask := target.MaskHost(); mask != "" && to.port != DaemonPort {
		out.Host = strings.ReplaceAll(mask, "${PORT}", strconv.Itoa(to.port))
	}
}

// failure says what a request met that got no answer.
func failure(err error, to route, target Target) *page {
	switch {
	case errors.Is(err, context.Canceled):
		return plain(statusClientGone, "the client went away")
	case errors.Is(err, ErrGone), errors.Is(target.Enter(context.Background(), false), ErrGone):
		return notFound(to.id)
	case errors.Is(err, ErrPortClosed):
		return portClosed(to)
	default:
		return &page{
			SandboxID: to.id, Port: to.port, Code: http.StatusBadGateway,
			Message: "The sandbox closed the connection before it answered",
		}
	}
}

package native

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// exchange is one HTTP request on its way. Its own ctx is what net/http watches;
// whoever waits for it lends the end of his ctx for as long as he waits.
type exchange struct {
	host   *Host
	peer   string // host:port, for errors
	ctx    context.Context
	cancel context.CancelCauseFunc

	lent    context.Context // whose end ends the exchange while somebody waits
	unlend  func() bool
	waiting atomic.Bool

	link   atomic.Pointer[link] // the connection that the request was given; nil: none, so it was never sent
	upload *upload              // nil when the body is plain bytes
}

// Do sends r and waits for the head.
func (h *Host) Do(ctx context.Context, r *transport.Request) (*transport.Response, error) {
	if err := h.ended(ctx); err != nil {
		return nil, err
	}
	x := &exchange{host: h}
	x.ctx, x.cancel = context.WithCancelCause(h.ctx)
	req, err := x.request(r)
	if err != nil {
		x.end(err)
		return nil, err
	}
	if err := x.wait(ctx); err != nil {
		x.end(err)
		return nil, err
	}
	resp, err := h.carrier(r).RoundTrip(req) //nolint:bodyclose // responseBody owns it
	x.waiting.Store(false)
	if err != nil {
		err = x.failure(ctx, err)
		x.end(err)
		return nil, err
	}
	return &transport.Response{
		Status: resp.StatusCode,
		Header: headerList(resp.Header),
		Body:   &responseBody{x: x, r: resp.Body, bulk: r.Bulk},
	}, nil
}

// carrier is HTTP/1.1 alone for a request that wants a connection of its own.
func (h *Host) carrier(r *transport.Request) http.RoundTripper {
	if r.Alone {
		return h.sockets.Transport
	}
	return h.http
}

// request builds what net/http sends. Nothing is added that the core did not
// ask for: no user agent, no accept-encoding.
func (x *exchange) request(r *transport.Request) (*http.Request, error) {
	u, err := parseURL(r.URL, "http", "https")
	if err != nil {
		return nil, err
	}
	if err := checkHeader(r.Header); err != nil {
		return nil, err
	}
	x.peer = hostPort(u)
	req := (&http.Request{
		Method: r.Method, URL: u, Host: u.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, len(r.Header)+1),
	}).WithContext(x.traced(x.ctx))
	setHeader(req, r.Header)
	poolLocalhost(u)
	x.upload = setBody(x.ctx, req, r.Body)
	return req, nil
}

// traced notes in x that a connection was had.
func (x *exchange) traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { x.link.Store(linkOf(info.Conn)) },
	})
}

func setHeader(req *http.Request, header transport.Header) {
	for _, f := range header {
		switch name := http.CanonicalHeaderKey(f[0]); name {
		case "Host":
			req.Host = f[1]
		case "Content-Length", "Transfer-Encoding", "Connection":
			// The body decides these.
		default:
			req.Header[name] = append(req.Header[name], f[1])
		}
	}
	if _, ok := req.Header["User-Agent"]; !ok {
		req.Header["User-Agent"] = []string{""} // net/http would send its own
	}
}

// headerList puts a response header into a fixed order: a map has none.
func headerList(m http.Header) transport.Header {
	list := make(transport.Header, 0, len(m))
	for name, values := range m {
		for _, v := range values {
			list = append(list, [2]string{name, v})
		}
	}
	slices.SortStableFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// wait marks that somebody waits on ctx. The link stays for the next wait on the
// same ctx, so that reading a stream costs no registration a chunk.
func (x *exchange) wait(ctx context.Context) error {
	if !same(x.lent, ctx) {
		x.release()
		x.lent = ctx
		x.unlend = context.AfterFunc(ctx, func() {
			if x.waiting.Load() {
				x.cancel(context.Cause(ctx))
			}
		})
	}
	x.waiting.Store(true)
	if ctx.Err() != nil {
		x.waiting.Store(false)
		return context.Cause(ctx)
	}
	return nil
}

// same tells whether a link to a serves b too. A caller's own ctx type may not be
// comparable.
func same(a, b context.Context) bool {
	return a != nil && reflect.ValueOf(a).Comparable() && a == b
}

func (x *exchange) release() {
	if x.unlend != nil {
		x.unlend()
	}
	x.lent, x.unlend = nil, nil
}

// end releases everything the exchange holds; net/http closes or keeps the
// connection, whichever its state allows.
func (x *exchange) end(cause error) {
	x.release()
	x.cancel(cause)
}

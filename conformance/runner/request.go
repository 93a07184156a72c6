package runner

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Request is one request as the peer saw it.
type Request struct {
	At     string // api, data or other
	Method string
	Target string // path and query as they came
	Header http.Header
	Host   string
	Body   []byte
	At0    time.Time

	Refused bool // protobuf, which this peer does not speak: no matter for a case
	Matched bool // a rule answered it
	Aborted bool // the client hung up before the end of the answer
}

// Path is the target without the query.
func (r *Request) Path() string {
	path, _, _ := strings.Cut(r.Target, "?")
	return path
}

func (r *Request) query() string {
	_, query, _ := strings.Cut(r.Target, "?")
	return query
}

func (r *Request) form() string { return r.Method + " " + r.Path() }

// is tells whether a request has the form "METHOD path". A path that begins with
// ~ is a regular expression, over the decoded path otherwise.
func (r *Request) is(form string) bool {
	method, path, _ := strings.Cut(form, " ")
	if method != "*" && method != r.Method {
		return false
	}
	if expr, ok := strings.CutPrefix(path, "~"); ok {
		return regexp.MustCompile("^(?:" + expr + ")$").MatchString(r.Path())
	}
	decoded, err := url.PathUnescape(r.Path())
	return path == r.Path() || (err == nil && path == decoded)
}

func newRequest(at string, r *http.Request, unread bool) *Request {
	q := &Request{At: at, Method: r.Method, Target: r.RequestURI, Header: r.Header, Host: r.Host, At0: time.Now()}
	if !unread {
		q.Body, _ = io.ReadAll(r.Body)
	}
	return q
}

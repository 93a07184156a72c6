package runner

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// inPage is a Driver whose requests a browser makes. The peer then speaks as the
// fetch standard asks, and what a page cannot choose is not checked.
type inPage interface{ InPage() bool }

// unchosen are the request headers that a page cannot set, or that a browser adds.
var unchosen = []string{
	"accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-length", "cookie", "expect", "host",
	"origin", "pragma", "priority", "referer", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
}

func chosen(name string) bool {
	name = strings.ToLower(name)
	return !slices.Contains(unchosen, name) && !strings.HasPrefix(name, "sec-")
}

// forPage takes out of a case what a page cannot choose.
func (c *Case) forPage() {
	notChosen := func(name string, _ any) bool { return !chosen(name) }
	for i := range c.Peer {
		maps.DeleteFunc(c.Peer[i].Header, notChosen)
	}
	if c.Requests == nil {
		return
	}
	for i := range c.Requests.Seen {
		maps.DeleteFunc(c.Requests.Seen[i].Headers, notChosen)
		c.Requests.Seen[i].page = true
	}
}

// aside answers what is the browser's own and no matter for a case: a preflight,
// and the probe whether anybody listens.
func (a *answer) aside(in *http.Request) bool {
	if !a.p.page {
		return false
	}
	asked := in.Header.Get("access-control-request-method")
	switch {
	case in.Method == http.MethodOptions && asked != "":
		a.raw(fmt.Appendf(nil, "HTTP/1.1 204 No Content\r\naccess-control-allow-methods: GET, POST, PUT, PATCH, DELETE, HEAD\r\n"+
			"access-control-allow-headers: %s\r\naccess-control-max-age: 600\r\naccess-control-allow-private-network: true\r\n\r\n",
			in.Header.Get("access-control-request-headers")))
	case in.Header.Get("sec-fetch-mode") == "no-cors":
		a.raw([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
	default:
		return false
	}
	return true
}

// shared are the headers that let a page see an answer.
const shared = "access-control-allow-origin: *\r\naccess-control-expose-headers: *\r\n"

// share puts them into the head of an answer, whatever came before it. A browser
// repeats by itself what was sent on a kept connection that fails, so none is kept.
func (a *answer) share(b []byte) []byte {
	if !a.p.page || a.headed || !bytes.HasPrefix(b, []byte("HTTP/1.")) {
		return b
	}
	head, rest, ok := bytes.Cut(b, []byte("\r\n\r\n"))
	if ok && len(head) > len("HTTP/1.1 1") && head[len("HTTP/1.1 ")] == '1' {
		return slices.Concat(head, []byte("\r\n\r\n"), a.share(rest))
	}
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok {
		return b
	}
	a.headed = true
	return slices.Concat(line, []byte("\r\n"+shared+"connection: close\r\n"), rest)
}

// beforeCut: a browser drops what it has not yet given to the page when a
// connection ends inside an answer.
func (a *answer) beforeCut() {
	if a.p.page && a.headed && !a.failed {
		time.Sleep(pageTakes)
	}
}

// pageTakes is how long a page may take over the last bytes.
const pageTakes = 200 * time.Millisecond

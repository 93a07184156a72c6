package runner

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answer plays one reply on one connection.
type answer struct {
	p     *Peer
	conn  net.Conn
	in    *bufio.Reader
	q     *Request
	rule  *Rule
	codec string

	request *http.Request
	chunked bool
	headed  bool // the head is out
	sent    int  // of the body
	failed  bool
}

// play writes the reply; it tells whether the connection can be used again.
func (a *answer) play() bool {
	r := &a.rule.Reply
	if r.WaitFor != "" && !a.p.await(r.WaitFor) {
		a.p.broken(fmt.Errorf("the peer waited in vain for %s", r.WaitFor))
	}
	if !a.sleep(time.Duration(r.DelayMS) * time.Millisecond) {
		return false
	}
	if r.Kernel != nil {
		a.kernel(r.Kernel)
		return false
	}
	if r.Wire != nil {
		return a.steps(r.Wire) && false
	}
	body, header, err := a.body()
	if err != nil {
		a.p.broken(fmt.Errorf("%s: %w", a.rule.On, err))
		return false
	}
	a.head(header, body)
	switch {
	case r.Stream != nil:
		return a.steps(r.Stream) && a.finish()
	case r.Lines != nil:
		return a.steps(r.Lines) && a.finish()
	case r.CutAfter != nil:
		a.write(body[:min(*r.CutAfter, len(body))])
	default:
		a.write(body)
	}
	return a.finish()
}

// body is the body and the header that goes with it.
func (a *answer) body() ([]byte, map[string]string, error) {
	r := &a.rule.Reply
	header := map[string]string{}
	var body []byte
	var err error
	switch {
	case r.JSON != nil:
		header["content-type"] = "application/json"
		body, err = json.Marshal(r.JSON)
	case r.Text != nil:
		header["content-type"] = "text/plain; charset=utf-8"
		body = []byte(*r.Text)
	case r.Bytes != nil:
		header["content-type"] = "application/octet-stream"
		body = r.Bytes.b
	case r.RPCError != nil:
		body, header["content-type"], err = a.rpcError(r.RPCError)
	case r.Message != nil:
		header["content-type"] = "application/" + a.codec
		body, err = encode(a.q.Path(), a.codec, r.Message)
	case r.Stream != nil:
		header["content-type"] = "application/connect+" + a.codec
	case r.Lines != nil:
		header["content-type"] = "application/json"
	}
	if r.Gzip {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(body)
		_ = w.Close()
		body, header["content-encoding"] = z.Bytes(), "gzip"
	}
	for name, value := range r.Headers {
		header[strings.ToLower(name)] = value
	}
	return body, header, err
}

// statusOf is the HTTP status of a unary error (e2b.md 3.3).
var statusOf = map[string]int{
	"canceled": 499, "unknown": 500, "invalid_argument": 400, "deadline_exceeded": 504, "not_found": 404, "already_exists": 409,
	"permission_denied": 403, "resource_exhausted": 429, "failed_precondition": 400, "aborted": 409, "out_of_range": 400,
	"unimplemented": 501, "internal": 500, "unavailable": 503, "data_loss": 500, "unauthenticated": 401,
}

func (a *answer) rpcError(e *RPCError) (body []byte, contentType string, err error) {
	what := map[string]any{"code": e.Code, "message": e.Message}
	if m, ok := method(a.q.Path()); ok && (m.IsStreamingServer() || m.IsStreamingClient()) {
		body, err = json.Marshal(map[string]any{"error": what})
		return envelope(2, body), "application/connect+" + a.codec, err
	}
	if a.rule.Status == 0 {
		a.rule = &Rule{Reply: a.rule.Reply, On: a.rule.On}
		a.rule.Status = statusOf[e.Code]
		if e.Status != 0 {
			a.rule.Status = e.Status
		}
	}
	body, err = json.Marshal(what)
	return body, "application/json", err
}

func (a *answer) head(header map[string]string, body []byte) {
	r := &a.rule.Reply
	status := r.Status
	if status == 0 {
		status = 200
	}
	var h bytes.Buffer
	fmt.Fprintf(&h, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	for _, name := range slices.Sorted(maps.Keys(header)) {
		fmt.Fprintf(&h, "%s: %s\r\n", name, header[name])
	}
	framing := r.Framing
	if framing == "" && (r.Stream != nil || r.Lines != nil) {
		framing = "chunked"
	}
	switch {
	case status == 204 || status == 304:
	case framing == "chunked":
		a.chunked = true
		h.WriteString("transfer-encoding: chunked\r\n")
	case framing == "close":
		h.WriteString("connection: close\r\n")
	case header["content-length"] == "":
		fmt.Fprintf(&h, "content-length: %d\r\n", len(body))
	}
	h.WriteString("\r\n")
	a.raw(h.Bytes())
}

// write sends a part of the body, in pieces when the reply asks for it.
func (a *answer) write(b []byte) {
	r := &a.rule.Reply
	size := r.Chunk
	if size <= 0 {
		size = 64 << 10
	}
	for len(b) > 0 && !a.failed {
		n := min(size, len(b))
		if a.chunked {
			a.raw([]byte(strconv.FormatInt(int64(n), 16) + "\r\n" + string(b[:n]) + "\r\n"))
		} else {
			a.raw(b[:n])
		}
		a.sent += n
		b = b[n:]
		if r.PauseUS > 0 {
			time.Sleep(time.Duration(r.PauseUS) * time.Microsecond)
		}
	}
}

func (a *answer) raw(b []byte) {
	b = a.share(b)
	if _, err := a.conn.Write(b); err != nil && !a.failed {
		a.failed = true
		a.p.abort(a.q)
	}
}

func (a *answer) finish() bool {
	r := &a.rule.Reply
	switch r.Then {
	case "fin":
		a.beforeCut()
		return false
	case "rst":
		a.reset()
		return false
	case "hang":
		a.hang()
		return false
	}
	if a.chunked {
		a.raw([]byte("0\r\n\r\n"))
	}
	if r.Unread {
		// A close over unread bytes resets the connection, which may take the answer
		// with it: the rest is read first, as servers do (RFC 9112 9.6).
		_, _ = io.Copy(io.Discard, a.in)
		return false
	}
	if r.CutAfter != nil {
		a.beforeCut()
	}
	return !a.failed && r.Framing != "close" && r.CutAfter == nil
}

func (a *answer) reset() {
	a.beforeCut()
	if tcp, ok := a.conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = a.conn.Close()
}

// hang waits until the client is gone.
func (a *answer) hang() {
	if _, err := a.in.Peek(1); err != nil {
		a.p.abort(a.q)
	}
}

// sleep waits; false when the client left meanwhile.
func (a *answer) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	_ = a.conn.SetReadDeadline(time.Now().Add(d))
	_, err := a.in.Peek(1)
	_ = a.conn.SetReadDeadline(time.Time{})
	if err == nil {
		time.Sleep(d)
		return true
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	a.failed = true
	a.p.abort(a.q)
	return false
}

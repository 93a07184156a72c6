//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
)

// replay stands before a server: what code has answered once it answers again,
// byte by byte, as fast as the client reads. All else it passes on.
type replay struct {
	*httptest.Server
	behind *httputil.ReverseProxy

	mu    sync.Mutex
	heard map[string][]byte // answers of code
}

func newReplay(server string) (*replay, error) {
	address, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	r := &replay{heard: map[string][]byte{}}
	r.behind = &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(address)
		p.Out.Host = p.In.Host // it names the sandbox
	}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	return r, nil
}

// know keeps the answer of code.
func (r *replay) know(code string, answer []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard[code] = answer
}

func (r *replay) serve(w http.ResponseWriter, q *http.Request) {
	if q.URL.Path != "/execute" {
		r.behind.ServeHTTP(w, q)
		return
	}
	var asked struct {
		Code string `json:"code"`
	}
	body, err := io.ReadAll(q.Body)
	if err != nil || json.Unmarshal(body, &asked) != nil {
		return
	}
	r.mu.Lock()
	answer := r.heard[asked.Code]
	r.mu.Unlock()
	if answer == nil {
		q.Body = io.NopCloser(bytes.NewReader(body))
		r.behind.ServeHTTP(w, q)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{bytes.NewReader(answer)}, make([]byte, 64<<10))
}

package runner

import (
	"bufio"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Peer plays the rules of one case on three addresses: the control plane, the
// data plane, and one that nothing should reach.
type Peer struct {
	c     *Case
	page  bool // the requests are a browser's
	ports map[string]net.Listener

	mu    sync.Mutex
	news  *sync.Cond
	seen  []*Request
	used  map[int]int
	conns map[net.Conn]bool
	over  bool
	done  sync.WaitGroup
	fault error // of the script itself
}

// patience is how long a script waits for a request.
const patience = 5 * time.Second

func newPeer() (*Peer, error) {
	p := &Peer{ports: map[string]net.Listener{}, used: map[int]int{}, conns: map[net.Conn]bool{}}
	p.news = sync.NewCond(&p.mu)
	for _, at := range []string{"api", "data", "other"} {
		l, err := listen()
		if err != nil {
			p.Close()
			return nil, err
		}
		p.ports[at] = l
	}
	return p, nil
}

// play begins to answer by the rules of c.
func (p *Peer) play(c *Case) {
	p.c = c
	for at, l := range p.ports {
		p.done.Go(func() { p.accept(at, l) })
	}
}

// URL is the base URL of an address.
func (p *Peer) URL(at string) string { return "http://" + p.ports[at].Addr().String() }

func (p *Peer) accept(at string, l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		if p.over {
			p.mu.Unlock()
			_ = conn.Close()
			return
		}
		p.conns[conn] = true
		p.mu.Unlock()
		p.done.Go(func() {
			defer p.drop(conn)
			p.serve(at, conn)
		})
	}
}

func (p *Peer) drop(conn net.Conn) {
	_ = conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// Close ends everything.
func (p *Peer) Close() {
	p.mu.Lock()
	p.over = true
	for _, l := range p.ports {
		_ = l.Close()
	}
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.news.Broadcast()
	p.mu.Unlock()
	p.done.Wait()
}

func (p *Peer) serve(at string, conn net.Conn) {
	r := bufio.NewReader(conn)
	for {
		in, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		a := &answer{p: p, conn: conn, in: r, request: in, codec: codecOf(in.Header.Get("content-type"))}
		if a.aside(in) {
			return
		}
		a.rule, a.q = p.take(at, in)
		if !a.play() || p.page {
			return
		}
	}
}

// take records a request and finds the rule that answers it.
func (p *Peer) take(at string, in *http.Request) (*Rule, *Request) {
	unread := slices.ContainsFunc(p.c.Peer, func(r Rule) bool { return r.Unread && (&Request{Method: in.Method, Target: in.RequestURI}).is(r.On) })
	if in.Header.Get("expect") == "100-continue" {
		unread = true
	}
	q := newRequest(at, in, unread)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, q)
	defer p.news.Broadcast()
	if codec := codecOf(q.Header.Get("content-type")); at == "data" && p.c.Codec == "json" && codec == "proto" {
		q.Refused = true
		return &Rule{Reply: Reply{Status: 415, Text: new(string)}}, q
	}
	for i := range p.c.Peer {
		rule := &p.c.Peer[i]
		if !rule.matches(q) || (rule.Times > 0 && p.used[i] >= rule.Times) {
			continue
		}
		p.used[i]++
		q.Matched = true
		return rule, q
	}
	text := "404 page not found\n"
	return &Rule{Reply: Reply{Status: 404, Text: &text, Headers: map[string]string{"content-type": "text/plain; charset=utf-8"}}}, q
}

func (r *Rule) matches(q *Request) bool {
	if !q.is(r.On) || (r.At != "" && r.At != q.At) || (r.Query != nil && *r.Query != q.query()) {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if len(matchHeader(q.Header, name, r.Header[name])) > 0 {
			return false
		}
	}
	return true
}

// Requests are what has been seen, without refused protobuf.
func (p *Peer) Requests() []*Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.seen), func(q *Request) bool { return q.Refused })
}

// await waits for a request of a form; false when it does not come in time.
func (p *Peer) await(form string) bool {
	return p.until(patience, func() bool {
		return slices.ContainsFunc(p.seen, func(q *Request) bool { return !q.Refused && q.is(form) })
	})
}

func (p *Peer) until(limit time.Duration, ok func() bool) bool {
	timer := time.AfterFunc(limit, p.news.Broadcast)
	defer timer.Stop()
	end := time.Now().Add(limit)
	p.mu.Lock()
	defer p.mu.Unlock()
	for !ok() {
		if p.over || !time.Now().Before(end) {
			return false
		}
		p.news.Wait()
	}
	return true
}

func (p *Peer) broken(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault == nil && !p.over {
		p.fault = err
	}
}

func (p *Peer) abort(q *Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.Aborted = true
	p.news.Broadcast()
}

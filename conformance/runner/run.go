package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
)

// APIKey is the key of every case that gives none. Every secret of a case has
// s3cr3t in it, which must show in no text of an error.
const (
	APIKey = "e2b_s3cr3t0000000000"
	secret = "s3cr3t"
)

// longest is the life of one case.
const longest = 20 * time.Second

// Run plays a case with a driver and gives what is wrong, nothing when all is well.
func Run(d Driver, c *Case, dir string) []string { return runCase(d, c, dir, nil) }

// runCase also shows the peer at the end.
func runCase(d Driver, c *Case, dir string, end func(*Peer)) []string {
	p, err := newPeer()
	if err != nil {
		return []string{err.Error()}
	}
	defer p.Close()
	bound, err := c.bind(p)
	if err != nil {
		return []string{err.Error()}
	}
	if page, ok := d.(inPage); ok && page.InPage() {
		p.page = true
		bound.forPage()
	}
	p.play(bound)
	setup, err := bound.setup(p, dir)
	if err != nil {
		return []string{err.Error()}
	}
	session, err := d.Open(setup)
	if err != nil {
		return []string{err.Error()}
	}
	r := &running{c: bound, p: p, session: session, outcomes: make([]*outcome, len(bound.Calls))}
	r.calls()
	problems := r.check()
	if end != nil {
		end(p)
	}
	if err := session.Close(); err != nil {
		problems = append(problems, "close: "+err.Error())
	}
	return problems
}

// bind puts the addresses of a peer in.
func (c *Case) bind(p *Peer) (*Case, error) {
	vars := Vars{}
	for at := range p.ports {
		vars[at] = p.URL(at)
		vars[at+"_host"] = strings.TrimPrefix(p.URL(at), "http://")
	}
	bound, err := strict(substitute(c.raw, vars))
	if err != nil {
		return nil, err
	}
	bound.File, bound.Codec = c.File, c.Codec
	if bound.Sandbox != nil {
		open := Call{Call: "sandbox.open", Params: map[string]any{"handle": bound.handle(p)}}
		bound.Calls = append([]Call{open}, bound.Calls...)
	}
	return bound, nil
}

// handle is the sandbox that a case begins with.
func (c *Case) handle(p *Peer) map[string]any {
	h := map[string]any{
		"provider": "e2b", "sandbox_id": "i1", "domain": "example.test", "envd_version": "0.6.13",
		"urls": map[string]any{"sandbox": p.URL("data")}, "tokens": map[string]any{"envd": "s3cr3t-envd"},
	}
	maps.Copy(h, c.Sandbox)
	return h
}

func (c *Case) setup(p *Peer, dir string) (Setup, error) {
	args := maps.Clone(c.Settings.Arguments)
	if args == nil {
		args = map[string]any{}
	}
	if !c.Settings.Bare {
		for name, value := range map[string]any{
			"provider": "e2b", "api_key": APIKey, "api_url": p.URL("api"), "sandbox_url": p.URL("data"), "retries": 0,
		} {
			if _, given := args[name]; !given {
				args[name] = value
			}
		}
	}
	for name, value := range args {
		if value == nil {
			delete(args, name)
		}
	}
	raw, err := json.Marshal(args)
	return Setup{Arguments: raw, Env: c.Settings.Env, DotEnv: c.Settings.DotEnv, Config: c.Settings.Config, Dir: dir}, err
}

// outcome is what one call gave.
type outcome struct {
	result  any
	failure *Failure
	took    time.Duration
	fault   error // of the case or the driver

	mu     sync.Mutex
	events []any
}

type running struct {
	c        *Case
	p        *Peer
	session  Session
	outcomes []*outcome
}

func (r *running) calls() {
	all, cancel := context.WithTimeoutCause(context.Background(), longest, errors.New("the case takes too long"))
	defer cancel()
	var background sync.WaitGroup
	defer background.Wait()
	for i := range r.c.Calls {
		call, o := &r.c.Calls[i], &outcome{}
		r.outcomes[i] = o
		if call.WaitFor != "" && !r.p.await(call.WaitFor) {
			o.fault = fmt.Errorf("waited in vain for %s", call.WaitFor)
			return
		}
		if call.Background {
			background.Go(func() { r.call(all, call, o) })
			continue
		}
		r.call(all, call, o)
		if o.fault != nil {
			return
		}
	}
}

func (r *running) call(all context.Context, call *Call, o *outcome) {
	ctx, cancel := context.WithCancel(all)
	defer cancel()
	params, err := json.Marshal(call.Params)
	if err != nil || call.Params == nil {
		params = []byte("{}")
	}
	if call.CancelAfterMS > 0 {
		defer time.AfterFunc(time.Duration(call.CancelAfterMS)*time.Millisecond, cancel).Stop()
	}
	if call.CancelWhen != "" {
		go func() {
			r.p.await(call.CancelWhen)
			cancel()
		}()
	}
	emit := func(kind string, value any) {
		o.event(kind, value)
		if kind == call.CancelOn {
			cancel()
		}
	}
	if call.Call == "wait" {
		ms, _ := call.Params["ms"].(float64)
		time.Sleep(time.Duration(ms) * time.Millisecond)
		return
	}
	began := time.Now()
	result, failure := r.session.Call(ctx, call.Call, params, emit)
	o.took, o.failure = time.Since(began), failure
	if o.result, err = generic(result); err != nil {
		o.fault = err
	}
}

func (o *outcome) event(kind string, value any) {
	v, err := generic(value)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.fault = err
	}
	o.events = append(o.events, []any{kind, v})
}

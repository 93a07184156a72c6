package driver

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/conformance/runner"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
	"github.com/agent-sandbox/agent-sandbox/wasm/host"
)

// Frames drives the core behind its frames: one instance for all sessions.
type Frames struct {
	name string
	net  *native.Host
	host *host.Host
}

// NewFrames makes a driver on instances of the core. Close it when done.
func NewFrames(name string, machine func() (host.Machine, error)) (*Frames, error) {
	net, err := native.NewHost(native.HostOptions{Proxy: "direct", Getenv: func(string) string { return "" }})
	if err != nil {
		return nil, err
	}
	return &Frames{name: name, net: net, host: host.New(net, host.Options{Machine: machine})}, nil
}

// Name is the driver's name.
func (f *Frames) Name() string { return f.name }

// Close ends the instance.
func (f *Frames) Close() error { return errors.Join(f.host.Close(), f.net.Close()) }

// Open begins a session: settings and handle travel with each call.
func (f *Frames) Open(s runner.Setup) (runner.Session, error) {
	args, err := whole(s.Arguments)
	if err != nil {
		return nil, err
	}
	client, err := json.Marshal(map[string]any{"arguments": args, "env": s.Env, "dotenv": s.DotEnv, "config": s.Config})
	return &framed{host: f.host, client: client, followed: map[string]*follower{}, watchers: map[string]json.RawMessage{}}, err
}

// framed is one session over frames.
type framed struct {
	host   *host.Host
	client json.RawMessage
	calls  sync.WaitGroup

	mu       sync.Mutex
	handle   json.RawMessage // of the current sandbox
	followed map[string]*follower
	watchers map[string]json.RawMessage
}

// Close leaves every process alone.
func (s *framed) Close() error {
	s.mu.Lock()
	for _, f := range s.followed {
		f.cancel(host.ErrDetach)
	}
	s.mu.Unlock()
	s.calls.Wait()
	return nil
}

// framedCall is one call under way.
type framedCall struct {
	s    *framed
	ctx  context.Context
	name string
	emit func(string, any)
	asked
}

// asked are the parameters that a driver looks at itself; raw are the others.
type asked struct {
	As           string      `json:"as"`
	On           []string    `json:"on"`
	DisconnectOn string      `json:"disconnect_on"`
	RetainOutput *bool       `json:"retain_output"`
	Pages        int         `json:"pages"`
	Data         content     `json:"data"`
	Pieces       []content   `json:"pieces"`
	Files        []writeJSON `json:"files"`
	Format       string      `json:"format"`
	Stream       bool        `json:"stream"`
	Events       int         `json:"events"`

	raw map[string]any
}

func (a *asked) read(params json.RawMessage) (err error) {
	if err := json.Unmarshal(params, a); err != nil {
		return err
	}
	a.raw, err = whole(params)
	for _, own := range []string{"as", "on", "disconnect_on", "retain_output", "pages", "data", "pieces", "format", "stream", "events"} {
		delete(a.raw, own)
	}
	return err
}

// whole rounds durations away from zero, to whole milliseconds.
func whole(params json.RawMessage) (map[string]any, error) {
	all := map[string]any{}
	if err := json.Unmarshal(params, &all); err != nil {
		return nil, err
	}
	for name, v := range all {
		if ms, ok := v.(float64); ok && strings.HasSuffix(name, "_ms") {
			all[name] = int64(math.Copysign(math.Ceil(math.Abs(ms)), ms))
		}
	}
	return all, nil
}

// framedMethods are the calls that are more than parameters in, result out.
var framedMethods = map[string]func(*framedCall) (any, error){
	"sandbox.create": (*framedCall).taken, "sandbox.connect": (*framedCall).taken, "sandbox.resume": (*framedCall).taken, "sandbox.open": (*framedCall).taken,
	"sandbox.run_code": (*framedCall).runCode,
	"sandbox.to_json":  (*framedCall).handleText, "sandbox.list": (*framedCall).list,
	"commands.run": (*framedCall).run, "commands.start": (*framedCall).start, "commands.connect": (*framedCall).start,
	"pty.create": (*framedCall).start, "pty.connect": (*framedCall).start,
	"commands.wait": (*framedCall).wait, "commands.disconnect": (*framedCall).disconnect,
	"commands.send_stdin": (*framedCall).send, "pty.send_input": (*framedCall).send, "commands.stream_stdin": (*framedCall).streamStdin, "pty.stream_input": (*framedCall).streamStdin,
	"files.read": (*framedCall).read, "files.write": (*framedCall).write, "files.write_files": (*framedCall).writeFiles,
	"files.watch_dir": (*framedCall).watch, "files.poll_dir": (*framedCall).poll, "files.poll_events": (*framedCall).polled, "files.poll_stop": (*framedCall).polled,
}

// Call makes one call.
func (s *framed) Call(ctx context.Context, name string, params json.RawMessage, emit func(string, any)) (any, *runner.Failure) {
	c := &framedCall{s: s, ctx: ctx, name: name, emit: emit}
	if err := c.asked.read(params); err != nil {
		return nil, framedFailure(err)
	}
	m := framedMethods[name]
	if m == nil {
		m = (*framedCall).plain
	}
	value, err := m(c)
	if err != nil {
		return nil, framedFailure(err)
	}
	return value, nil
}

func (c *framedCall) plain() (any, error) { return c.do(host.Call{}) }

// do makes the call on the current sandbox.
func (c *framedCall) do(q host.Call) (json.RawMessage, error) {
	q.Method, q.Client, q.Params = c.name, c.s.client, c.raw
	c.s.mu.Lock()
	q.Sandbox = c.s.handle
	c.s.mu.Unlock()
	return c.s.host.Do(c.ctx, q)
}

// taken makes the handle that comes back the current sandbox.
func (c *framedCall) taken() (any, error) {
	text, err := c.do(host.Call{})
	if err != nil {
		return nil, err
	}
	var h struct {
		SandboxID   string            `json:"sandbox_id"`
		Template    string            `json:"template"`
		Isolation   string            `json:"isolation"`
		EnvdVersion string            `json:"envd_version"`
		Domain      string            `json:"domain"`
		Provider    string            `json:"provider"`
		Tokens      map[string]string `json:"tokens,omitempty"`
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, err
	}
	c.s.mu.Lock()
	c.s.handle = text
	c.s.mu.Unlock()
	return map[string]any{
		"sandbox_id": h.SandboxID, "template": h.Template, "isolation": h.Isolation, "envd_version": h.EnvdVersion,
		"domain": h.Domain, "provider": h.Provider, "secured": h.Tokens["envd"] != "",
	}, nil
}

func (c *framedCall) handleText() (any, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.handle, nil
}

// list walks up to "pages" pages; 0 is all.
func (c *framedCall) list() (any, error) {
	items, last := []json.RawMessage{}, ""
	for n := 0; n == 0 || n < c.Pages || (c.Pages == 0 && last != ""); n++ {
		if n > 0 && last == "" {
			return nil, fault.InvalidArgument("there is no further page")
		}
		text, err := c.do(host.Call{})
		if err != nil {
			return nil, err
		}
		var page struct {
			Items     []json.RawMessage `json:"items"`
			NextToken string            `json:"next_token"`
		}
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, err
		}
		items, last = append(items, page.Items...), page.NextToken
		c.raw["next_token"] = last
	}
	return map[string]any{"items": items, "has_next": last != "", "next_token": last}, nil
}

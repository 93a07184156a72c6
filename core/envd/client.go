// Package envd is the client of E2B's in-sandbox daemon: the data plane of the
// E2B family. Facts: e2b.md section 3.
package envd

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/retry"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Port is the port on which envd listens inside every sandbox.
const Port = 49983

// Config binds a client to one sandbox.
type Config struct {
	Host        transport.Host
	SandboxID   string
	Base        string // for calls: scheme and authority
	Direct      string // for signed URLs; "" = Base
	AccessToken string // "" = the sandbox is open
	Version     string // envd's version; "" = the newest
	Header      transport.Header
	UserAgent   string
	MaxMessage  int
	Request     time.Duration // request clock of unary calls; 0 = none
	Idle        time.Duration // idle clock between chunks of an answer; 0 = none
	Silence     time.Duration // idle clock until an answer begins, where the user set one; 0 = none
	Retry       retry.Policy
	OneProcess  bool // the sandbox ends with the server at Base
}

// Client implements plane.Data.
type Client struct{ cfg Config }

var _ plane.Data = (*Client)(nil)

// New makes a client; it does nothing yet.
func New(cfg Config) *Client { return &Client{cfg} }

const login = "the sandbox refused its access token: connect to it again for a valid handle"

// Areas of Classify: what a refusal means in each part of envd.
var (
	processArea = connect.Area{
		Missing: fault.CodeExecution, Exists: fault.CodeExecution, Denied: fault.CodeForbidden,
		Route: fault.CodeCapability, Other: fault.CodeExecution, Login: login,
	}
	fileArea = connect.Area{
		Missing: fault.CodeFileNotFound, Exists: fault.CodePathKind, Denied: fault.CodeFilePermission,
		Route: fault.CodeCapability, Other: fault.CodeFileOperation, Login: login,
	}
	transferArea = connect.Area{
		Missing: fault.CodeFileNotFound, Exists: fault.CodePathKind, Denied: fault.CodeFilePermission,
		Route: fault.CodeFileNotFound, Other: fault.CodeFileOperation, Login: login,
	}
)

// headers of every call (e2b.md 2.3).
func (c *Client) headers() transport.Header {
	h := transport.Header{
		{"e2b-sandbox-id", c.cfg.SandboxID},
		{"e2b-sandbox-port", strconv.Itoa(Port)},
	}
	if c.cfg.UserAgent != "" {
		h = append(h, [2]string{"user-agent", c.cfg.UserAgent})
	}
	if c.cfg.AccessToken != "" {
		h = append(h, [2]string{"x-access-token", c.cfg.AccessToken})
	}
	return append(h, c.cfg.Header...)
}

// rpc is a Connect client for one call by user.
func (c *Client) rpc(user string) connect.Client {
	h := c.headers()
	if user = c.userOr(user); user != "" {
		h = append(h, [2]string{"authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"))})
	}
	return connect.Client{Host: c.cfg.Host, Base: c.cfg.Base, Header: h, Codec: c.codec(), MaxMessage: c.cfg.MaxMessage, Request: c.cfg.Request, Silence: c.cfg.Silence, Idle: c.cfg.Idle}
}

// userOr applies the defaults: envd before 0.4.0 has no default user of its own
// (e2b.md 3.6).
func (c *Client) userOr(user string) string {
	if user == "" && !AtLeast(c.cfg.Version, 0, 4, 0) {
		user = "user"
	}
	return user
}

func (c *Client) codecKey() string { return "envd.codec|" + c.cfg.Base + "|" + c.cfg.Version }

func (c *Client) codec() connect.Codec {
	if jsonOnly, _ := c.cfg.Host.Cache().Get(c.codecKey()); jsonOnly == true {
		return connect.JSON
	}
	return connect.Proto
}

// codecKnown tells whether the peer has shown what it speaks.
func (c *Client) codecKnown() bool {
	_, known := c.cfg.Host.Cache().Get(c.codecKey())
	return known
}

// spoken runs call, and once more in JSON when the peer refuses protobuf.
func (c *Client) spoken(user string, call func(rpc connect.Client) error) error {
	rpc := c.rpc(user)
	err := call(rpc)
	var answer *connect.Error
	if rpc.Codec == connect.Proto && errors.As(err, &answer) && answer.Status == 415 {
		c.cfg.Host.Cache().Put(c.codecKey(), true)
		return call(c.rpc(user))
	}
	if err == nil && !c.codecKnown() {
		c.cfg.Host.Cache().Put(c.codecKey(), false)
	}
	return err
}

// unary makes one classified call, repeated as the policy allows.
func (c *Client) unary(ctx context.Context, idempotent bool, procedure, user string, area connect.Area, in connect.Encoder, out connect.Parser) error {
	return retry.Do(ctx, c.cfg.Host, c.cfg.Retry, idempotent, func(ctx context.Context) error {
		err := c.spoken(user, func(rpc connect.Client) error { return rpc.Unary(ctx, procedure, in, out) })
		return c.explain(ctx, connect.Classify(ctx, err, area))
	})
}

// Explain gives err, or a better one, for a body that was cut and for another
// service of the same sandbox: see explain.
func (c *Client) Explain(ctx context.Context, err error) error { return c.explain(ctx, err) }

// explain asks the sandbox once whether it still runs when a gateway or a cut
// connection answered in its place (e2b.md 2.3: 502 on /health is the signal).
func (c *Client) explain(ctx context.Context, err error) error {
	e := fault.As(err)
	if e == nil || ctx.Err() != nil {
		return err
	}
	gateway := e.Status == 502
	answer := &connect.Error{}
	errors.As(err, &answer)
	switch {
	case c.orphaned(e):
		return c.ended(e)
	case gateway && answer.Port != 0:
		return err // it runs, but nothing listens on the port (yet)
	case gateway && e.SandboxID != "":
		return c.gone(e)
	case saysPaused(answer):
		return c.paused(e)
	}
	if !gateway && e.Code != fault.CodeNetwork && e.Code != fault.CodeConnectionLost {
		return err
	}
	return c.probed(ctx, e)
}

// probed asks the sandbox itself once and keeps e unless the answer tells more.
func (c *Client) probed(ctx context.Context, e *fault.Error) error {
	running, err := c.health(ctx)
	switch {
	case c.orphaned(err):
		return c.ended(e)
	case err == nil && !running:
		return c.gone(e)
	case fault.CodeOf(err) == fault.CodeNoSpace:
		return c.full(e, fault.As(err))
	}
	return e
}

// full: the sandbox stands still at the limit of its disk, and so does
// everything in it.
func (c *Client) full(e, said *fault.Error) error {
	f := fault.New(fault.CodeNoSpace, "sandbox %s stands still: its disk is full", c.cfg.SandboxID).Because(e)
	f.Status, f.SandboxID, f.PID, f.Partial = said.Status, c.cfg.SandboxID, e.PID, e.Partial
	return f.Suggest("connect to it, which lets it go on for a second, and delete files at once; or kill it")
}

// orphaned tells that nothing listens where the sandbox's server did, and that the
// sandbox ended with it.
func (c *Client) orphaned(err error) bool {
	var network *transport.NetError
	return c.cfg.OneProcess && errors.As(err, &network) && network.Kind == transport.NetRefused
}

// ended is the error of a sandbox without its server.
func (c *Client) ended(e *fault.Error) error {
	g := fault.New(fault.CodeSandboxNotFound, "sandbox %s ended with the server that kept it: nothing listens at %s any more", c.cfg.SandboxID, c.cfg.Base).Because(e)
	g.SandboxID, g.PID, g.Partial = c.cfg.SandboxID, e.PID, e.Partial
	return g.Suggest("create a new sandbox")
}

func (c *Client) gone(e *fault.Error) error {
	g := fault.New(fault.CodeSandboxNotFound, "sandbox %s is not running: it was killed or its lifetime ended", c.cfg.SandboxID).Because(e)
	g.Status, g.SandboxID, g.PID, g.Partial = e.Status, c.cfg.SandboxID, e.PID, e.Partial
	return g.Suggest("create a new sandbox, or raise its %s", fault.Option("timeout_ms"))
}

// saysPaused: traffic to envd's port is refused by the gateway, which names the
// sandbox, only when it is paused and may not be woken (e2b.md 2.3).
func saysPaused(e *connect.Error) bool { return e.Plain && e.Status == 403 && e.SandboxID != "" }

func (c *Client) paused(e *fault.Error) error {
	p := fault.New(fault.CodeSandboxPaused, "sandbox %s is paused, and traffic does not wake it: %s", c.cfg.SandboxID, e.Message).Because(e)
	p.Status, p.SandboxID, p.PID, p.Partial = e.Status, c.cfg.SandboxID, e.PID, e.Partial
	return p.Suggest("resume it first, or create sandboxes with %s", fault.Option("auto_resume"))
}

const probeClock = 5 * time.Second

// Healthy asks GET /health. false with no error: the sandbox does not run.
func (c *Client) Healthy(ctx context.Context) (bool, error) {
	running, err := c.health(ctx)
	if c.orphaned(err) {
		return false, nil
	}
	return running, err
}

func (c *Client) health(ctx context.Context) (bool, error) {
	clock := c.cfg.Request
	if clock == 0 || clock > probeClock {
		clock = probeClock
	}
	limited, _, disarm := c.cfg.Host.Limit(ctx, transport.ClockRequest, clock)
	defer disarm()
	resp, err := c.cfg.Host.Do(limited, &transport.Request{Method: "GET", URL: c.cfg.Base + "/health", Header: c.headers()})
	if err != nil {
		return false, connect.Classify(ctx, err, processArea)
	}
	defer resp.Body.Close()
	switch {
	case resp.Status >= 200 && resp.Status < 300:
		return true, nil
	case resp.Status == 502:
		return false, nil
	}
	refusal := connect.Failure(resp, connect.ReadSome(limited, c.cfg.Host, resp.Body, 4096), connect.SecretsOf(c.headers()))
	if saysPaused(refusal) {
		return false, nil
	}
	return false, connect.Classify(ctx, refusal, processArea)
}

// AtLeast compares a semantic version with a gate of e2b.md 3.6. An empty or
// unreadable version counts as the newest.
func AtLeast(version string, gate ...int) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	for i, want := range gate {
		if i >= len(parts) {
			return true
		}
		digits := strings.TrimRight(strings.SplitN(strings.SplitN(parts[i], "-", 2)[0], "+", 2)[0], " ")
		got, err := strconv.Atoi(digits)
		if err != nil || got > want {
			return true
		}
		if got < want {
			return false
		}
	}
	return true
}

// Package interpreter is the client of the code interpreter of E2B's family, a
// service inside the sandbox. Facts: e2b.md section 5.
package interpreter

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/retry"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/core/uri"
)

// Port is the port on which the service listens inside a sandbox.
const Port = 49999

// Template is the one that has the service.
const Template = "code-interpreter-v1"

// Config binds a client to one sandbox.
type Config struct {
	Host        transport.Host
	SandboxID   string
	Base        string           // scheme and authority
	AccessToken string           // goes with code alone; "" = none
	Header      transport.Header // of every request
	Request     time.Duration    // request clock of calls about contexts; 0 = none
	Retry       retry.Policy
	// Explain asks the sandbox itself why a connection failed, and gives err or a
	// better one.
	Explain func(ctx context.Context, err error) error
}

// Client implements plane.Interpreter.
type Client struct{ cfg Config }

var _ plane.Interpreter = (*Client)(nil)

// New makes a client; it does nothing yet.
func New(cfg Config) *Client { return &Client{cfg} }

const headerToken = "x-access-token"

// area says what refusals mean here.
var area = connect.Area{
	Missing: fault.CodeCodeExecution, Exists: fault.CodeCodeExecution, Denied: fault.CodeForbidden,
	Route: fault.CodeCodeExecution, Other: fault.CodeCodeExecution,
	Login: "the sandbox refused its access token: connect to it again for a valid handle",
}

// request is one to the service; body is nil or JSON.
func (c *Client) request(method, path string, body []byte) *transport.Request {
	h := make(transport.Header, 0, len(c.cfg.Header)+4)
	if body != nil {
		h = append(h, [2]string{"content-type", "application/json"})
	}
	h = append(h, [2]string{"e2b-sandbox-id", c.cfg.SandboxID}, [2]string{"e2b-sandbox-port", strconv.Itoa(Port)})
	return &transport.Request{Method: method, URL: c.cfg.Base + path, Header: append(h, c.cfg.Header...), Body: transport.Body{Bytes: body}}
}

// secrets are what no error may show.
func (c *Client) secrets() connect.Secrets {
	return connect.SecretsOf(append(transport.Header{{headerToken, c.cfg.AccessToken}}, c.cfg.Header...))
}

func (c *Client) refused(ctx context.Context, resp *transport.Response) error {
	const most = 64 << 10
	words := connect.ReadSome(ctx, c.cfg.Host, resp.Body, most)
	e := connect.Failure(resp, words, c.secrets())
	if text := said(c.secrets().Hide(words)); !e.Said && text != "" {
		e.Message, e.Said = connect.Clip(text), true
	}
	return e
}

// classify gives an error its code. What the service itself says is about the
// code or its kernel; an answer of a gateway is about the way to it.
func classify(ctx context.Context, err error) error {
	err = connect.Classify(ctx, err, area)
	var answer *connect.Error
	if !errors.As(err, &answer) {
		return err
	}
	e := fault.As(err)
	switch {
	case answer.NeverSent():
		e.Code, e.Message = fault.CodeCodeExecution, "the sandbox has no code interpreter: nothing listens on its port "+strconv.Itoa(Port)
		return e.Suggest("create it from a template that has one, such as %s", Template)
	case answer.Status == 500 || answer.Status == 501:
		e.Code = fault.CodeCodeExecution
	}
	return err
}

// call makes one request and gives its answer, repeated as the policy allows.
func (c *Client) call(ctx context.Context, idempotent bool, method, path string, in any) (answer []byte, err error) {
	var body []byte
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return nil, fault.InvalidArgument("the request cannot be written as JSON").Because(err)
		}
	}
	err = retry.Do(ctx, c.cfg.Host, c.cfg.Retry, idempotent, func(ctx context.Context) error {
		answer, err = c.once(ctx, c.request(method, path, body), c.cfg.Request)
		return c.explain(ctx, classify(ctx, err))
	})
	return answer, err
}

// explain keeps the code of the service's own words.
func (c *Client) explain(ctx context.Context, err error) error {
	if err == nil || c.cfg.Explain == nil {
		return err
	}
	return c.cfg.Explain(ctx, err)
}

const mostAnswer = 16 << 20

func (c *Client) once(ctx context.Context, r *transport.Request, clock time.Duration) ([]byte, error) {
	limited, _, disarm := c.cfg.Host.Limit(ctx, transport.ClockRequest, clock)
	defer disarm()
	resp, err := c.cfg.Host.Do(limited, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.Status != 200 {
		return nil, c.refused(limited, resp)
	}
	return connect.ReadAll(limited, resp.Body, mostAnswer)
}

func contextPath(id string) string { return "/contexts/" + uri.Escape(id) }

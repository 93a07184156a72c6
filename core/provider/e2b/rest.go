package e2b

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/retry"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/core/uri"
)

const maxAnswer = 16 << 20

// call is one REST request of the control plane.
type call struct {
	method, path string
	query        uri.Query
	body         any // nil = no body
	out          any // nil = the answer does not matter
	idempotent   bool
	header       transport.Header
	area         connect.Area
}

const login = "check the API key, and that it belongs to this provider"

// area of calls about one sandbox; create has its own.
var sandboxArea = connect.Area{
	Missing: fault.CodeSandboxNotFound, Exists: fault.CodeSandboxCreation, Denied: fault.CodeForbidden,
	Route: fault.CodeSandboxNotFound, Other: fault.CodeSandboxCreation, Login: login,
}

// rest makes the call and gives the response head.
func (c *control) rest(ctx context.Context, q call) (head *transport.Response, err error) {
	request, err := c.request(q)
	if err != nil {
		return nil, err
	}
	policy := retry.Policy{Max: c.settings.Retries, Total: c.settings.RequestTimeout}
	err = retry.Do(ctx, c.host, policy, q.idempotent, func(ctx context.Context) (err error) {
		head, err = c.once(ctx, request, q)
		return connect.Classify(ctx, err, q.area)
	})
	return head, c.serverless(advised(named(err)))
}

func (c *control) request(q call) (*transport.Request, error) {
	if c.settings.NeedsServer() {
		return nil, fault.New(fault.CodeConnectFailed, "nobody has looked for the local server")
	}
	r := &transport.Request{Method: q.method, URL: c.base + q.path}
	if len(q.query) > 0 {
		r.URL += "?" + q.query.Encode()
	}
	r.Header = transport.Header{{"x-api-key", c.settings.APIKey}, {"accept", "application/json"}}
	if c.userAgent != "" {
		r.Header.Add("user-agent", c.userAgent)
	}
	r.Header = append(r.Header, q.header...)
	if q.body == nil {
		return r, nil
	}
	b, err := json.Marshal(q.body)
	if err != nil {
		return nil, fault.InvalidArgument("an option cannot be written as JSON").Because(err)
	}
	r.Header.Add("content-type", "application/json")
	r.Body = transport.Body{Bytes: b}
	return r, nil
}

func (c *control) once(ctx context.Context, r *transport.Request, q call) (*transport.Response, error) {
	limited, _, disarm := c.host.Limit(ctx, transport.ClockRequest, c.settings.RequestTimeout)
	defer disarm()
	resp, err := c.host.Do(limited, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.Status < 200 || resp.Status > 299 {
		return nil, refusal(connect.Failure(resp, connect.ReadSome(limited, c.host, resp.Body, 64<<10), connect.SecretsOf(r.Header)))
	}
	b, err := connect.ReadAll(limited, resp.Body, maxAnswer)
	if err != nil || q.out == nil {
		return resp, err
	}
	if json.Unmarshal(b, q.out) != nil {
		return nil, connect.SecretsOf(r.Header).Breach("JSON from "+q.method+" "+q.path, b)
	}
	return resp, nil
}

// refusal explains a redirect: credentials never follow one.
func refusal(e *connect.Error) *connect.Error {
	if isRedirect(e.Status) {
		e.Message = "the API answered with a redirect, which is not followed"
	}
	return e
}

func isRedirect(status int) bool { return status >= 300 && status < 400 }

// serverless says what it means that nothing listens where the one server of all
// sandboxes did.
func (c *control) serverless(err error) error {
	var network *transport.NetError
	if e := fault.As(err); e != nil && c.preset.OneProcess && errors.As(err, &network) && network.Kind == transport.NetRefused {
		return e.Suggest("the %s server does not run there any more, and its sandboxes ended with it; a new client starts another", c.preset.Name)
	}
	return err
}

// advised says what to do where the API itself does not.
func advised(err error) error {
	if e := fault.As(err); e != nil && isRedirect(e.Status) {
		return e.On("api_url").Suggest("set %s to the final address", fault.Option("api_url"))
	}
	return err
}

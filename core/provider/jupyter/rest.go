package jupyter

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/retry"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

const maxAnswer = 16 << 20

var area = connect.Area{
	Missing: fault.CodeCodeExecution, Exists: fault.CodeCodeExecution, Denied: fault.CodeForbidden,
	Route: fault.CodeCodeExecution, Other: fault.CodeCodeExecution,
}

// call makes one request, repeated as the settings allow. in and out may be nil.
func (c *control) call(ctx context.Context, idempotent bool, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fault.InvalidArgument("an option cannot be written as JSON").Because(err)
		}
	}
	policy := retry.Policy{Max: c.settings.Retries, Total: c.settings.RequestTimeout}
	return retry.Do(ctx, c.host, policy, idempotent, func(ctx context.Context) error {
		return refused(connect.Classify(ctx, c.once(ctx, method, path, body, out), area))
	})
}

func (c *control) once(ctx context.Context, method, path string, body []byte, out any) error {
	limited, _, disarm := c.host.Limit(ctx, transport.ClockRequest, c.settings.RequestTimeout)
	defer disarm()
	r := &transport.Request{Method: method, URL: c.base + path, Header: c.header(), Body: transport.Body{Bytes: body}}
	if body != nil {
		r.Header.Add("content-type", "application/json")
	}
	resp, err := c.host.Do(limited, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.Status < 200 || resp.Status > 299 {
		return connect.Failure(resp, connect.ReadSome(limited, c.host, resp.Body, 64<<10), c.secrets())
	}
	if out == nil {
		return nil
	}
	b, err := connect.ReadAll(limited, resp.Body, maxAnswer)
	if err == nil && json.Unmarshal(b, out) != nil {
		return c.secrets().Breach("JSON from "+method+" "+path, b)
	}
	return err
}

// header is that of every request. A server that wants no token wants proof that
// no page of another origin asks: a cookie, and its value in a header.
func (c *control) header() transport.Header {
	var h transport.Header
	if c.settings.APIKey != "" {
		h.Add("authorization", "token "+c.settings.APIKey)
	} else {
		proof := c.random(16)
		h.Add("cookie", "_xsrf="+proof)
		h.Add("x-xsrftoken", proof)
	}
	if c.userAgent != "" {
		h.Add("user-agent", c.userAgent)
	}
	return h
}

// secrets are what no error may show: the token, and the header that has it.
func (c *control) secrets() connect.Secrets {
	return connect.SecretsOf(transport.Header{{"authorization", c.settings.APIKey}})
}

// refused: a server answers 403 to a token that it does not know, never 401.
func refused(err error) error {
	e := fault.As(err)
	if e == nil {
		return err
	}
	switch status := statusOf(err); {
	case status == 401, status == 403:
		e.Code = fault.CodeInvalidAPIKey
		return e.On("api_key").Suggest("pass the token of the Jupyter Server as %s", fault.Option("api_key"))
	case status >= 300 && status < 400:
		return e.On("api_url").Suggest("set %s to the final address", fault.Option("api_url"))
	}
	return err
}

// statusOf is the status that the server answered; 0 = it answered none.
func statusOf(err error) int {
	var answer *connect.Error
	if errors.As(err, &answer) {
		return answer.Status
	}
	return 0
}

// random are n random bytes in hexadecimal digits.
func (c *control) random(n int) string {
	b := make([]byte, n)
	c.host.Rand(b)
	return hex.EncodeToString(b)
}

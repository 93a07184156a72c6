package connect

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Client calls the procedures of one peer. It is a value: copy it to change it.
type Client struct {
	Host       transport.Host
	Base       string // scheme and authority, no trailing slash
	Header     transport.Header
	Codec      Codec
	MaxMessage int           // bytes of one message; 0 = DefaultMaxMessage
	Request    time.Duration // request clock of a unary call; 0 = none
	Silence    time.Duration // idle clock of a unary call until its head; 0 = none
	Idle       time.Duration // idle clock between chunks of its answer; 0 = none
}

const maxErrorBody = 64 << 10

// Unary makes one call: procedure is "package.Service/Method".
func (c *Client) Unary(ctx context.Context, procedure string, in Encoder, out Parser) error {
	body, err := encode(c.Codec, in, nil)
	if err != nil {
		return err
	}
	limited, _, disarm := c.Host.Limit(ctx, transport.ClockRequest, c.Request)
	defer disarm()
	silent, _, answered := c.Host.Limit(limited, transport.ClockIdle, c.Silence)
	resp, err := c.Host.Do(silent, c.request(procedure, c.Codec.unaryType(), transport.Body{Bytes: body}))
	answered()
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.Status != 200 {
		return c.fail(limited, resp)
	}
	return c.answer(limited, resp, out)
}

func (c *Client) answer(ctx context.Context, resp *transport.Response, out Parser) error {
	b, err := ReadLively(ctx, c.Host, resp.Body, c.max(), c.Idle)
	if err != nil {
		return err
	}
	if err := Parse(c.Codec, out, b); err != nil {
		return SecretsOf(c.Header).Breach(c.Codec.unaryType(), b)
	}
	return nil
}

func (c *Client) request(procedure, contentType string, body transport.Body) *transport.Request {
	h := make(transport.Header, 0, len(c.Header)+2)
	h = append(h, [2]string{"content-type", contentType}, [2]string{"connect-protocol-version", "1"})
	return &transport.Request{Method: "POST", URL: c.Base + "/" + procedure, Header: append(h, c.Header...), Body: body}
}

func (c *Client) max() int {
	if c.MaxMessage > 0 {
		return c.MaxMessage
	}
	return DefaultMaxMessage
}

func (c *Client) fail(ctx context.Context, resp *transport.Response) error {
	return Failure(resp, ReadSome(ctx, c.Host, resp.Body, maxErrorBody), SecretsOf(c.Header))
}

// ErrTooLarge says that a body passed its limit.
var ErrTooLarge = errors.New("the answer is larger than its limit")

// ReadAll reads a whole body of at most limit bytes.
func ReadAll(ctx context.Context, body transport.ResponseBody, limit int) ([]byte, error) {
	return readAll(ctx, func() {}, body, limit)
}

// ReadLively is ReadAll under an idle clock; 0 = none.
func ReadLively(ctx context.Context, host transport.Host, body transport.ResponseBody, limit int, idle time.Duration) ([]byte, error) {
	lively, alive, disarm := host.Limit(ctx, transport.ClockIdle, idle)
	defer disarm()
	return readAll(lively, alive, body, limit)
}

func readAll(ctx context.Context, alive func(), body transport.ResponseBody, limit int) ([]byte, error) {
	var all []byte
	for {
		chunk, err := body.Next(ctx)
		alive()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if len(all)+len(chunk) > limit {
			return all, ErrTooLarge
		}
		all = append(all, chunk...)
	}
}

// wordsClock is how long the words of an error are waited for: its status says
// enough, and some bodies never end.
const wordsClock = 2 * time.Second

// ReadSome reads what it can get of an error's body in a short time, at most
// limit bytes: building an error never fails.
func ReadSome(ctx context.Context, host transport.Host, body transport.ResponseBody, limit int) []byte {
	ctx, _, disarm := host.Limit(ctx, transport.ClockSilence, wordsClock)
	defer disarm()
	var some []byte
	for len(some) < limit {
		chunk, err := body.Next(ctx)
		if err != nil {
			break
		}
		some = append(some, chunk[:min(len(chunk), limit-len(some))]...)
	}
	return some
}

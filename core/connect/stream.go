package connect

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Stream is the answer of a server-streaming call, read by one task.
type Stream struct {
	host  transport.Host
	body  transport.ResponseBody
	dec   decoder
	ended bool

	secrets Secrets
}

// Unexpected is the error for a message that is not what was expected.
func (s *Stream) Unexpected(expected string, msg []byte) error {
	return s.secrets.Breach(expected, msg)
}

// lastBytes is how long the connection may take to end after the end of the
// stream; only a body that was read to its end leaves a connection for reuse.
const lastBytes = time.Second

// Open starts a server-streaming call with its one request message. The
// client's request clock runs until the head.
func (c *Client) Open(ctx context.Context, procedure string, in Encoder) (*Stream, error) {
	body, err := encode(c.Codec, in, beginEnvelope(nil))
	if err != nil {
		return nil, err
	}
	r := c.request(procedure, c.Codec.streamType(), transport.Body{Bytes: endEnvelope(body, 0)})
	r.Lasting = true
	resp, err := c.Host.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := c.checkStream(ctx, resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return c.stream(resp.Body), nil
}

func (c *Client) stream(body transport.ResponseBody) *Stream {
	return &Stream{host: c.Host, body: body, dec: decoder{max: c.max()}, secrets: SecretsOf(c.Header)}
}

// checkStream refuses answers that are no stream of ours: a bad status, or a
// good one that carries a page or a JSON error object instead.
func (c *Client) checkStream(ctx context.Context, resp *transport.Response) error {
	if resp.Status != 200 {
		return c.fail(ctx, resp)
	}
	got, _, _ := strings.Cut(resp.Header.Get("content-type"), ";")
	got = strings.TrimSpace(got)
	if strings.EqualFold(got, c.Codec.streamType()) {
		return nil
	}
	some := ReadSome(ctx, c.Host, resp.Body, maxErrorBody)
	secrets := SecretsOf(c.Header)
	if e := Failure(resp, some, secrets); e.Said {
		return e
	}
	return secrets.Breach(c.Codec.streamType(), []byte(got+" "+string(some)))
}

// Next waits for the next message, which is valid until the following Next.
// io.EOF follows a successful end of stream; *Error a failed one; *Cut none.
func (s *Stream) Next(ctx context.Context) ([]byte, error) {
	for {
		flags, msg, ok, err := s.dec.pop()
		switch {
		case s.ended:
			return nil, io.EOF
		case err != nil:
			return nil, &Protocol{Expected: "a Connect envelope", Got: err.Error()}
		case ok && flags&flagEnd != 0:
			s.ended = true
			end := s.endOfStream(msg)
			s.drain(ctx)
			return nil, end
		case ok:
			return msg, nil
		}
		chunk, err := s.body.Next(ctx)
		if err != nil {
			return nil, s.cut(ctx, err)
		}
		s.dec.push(chunk)
	}
}

func (s *Stream) drain(ctx context.Context) {
	limited, _, disarm := s.host.Limit(ctx, transport.ClockSilence, lastBytes)
	defer disarm()
	_, _ = s.body.Next(limited)
}

func (s *Stream) cut(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return &Cut{}
	case ctx.Err() != nil:
		return err
	}
	return &Cut{Cause: err}
}

// Close aborts what has not been read.
func (s *Stream) Close() { s.body.Close() }

func (s *Stream) endOfStream(msg []byte) error {
	if string(msg) == "{}" {
		return io.EOF // nearly always, and a decoder costs more than the rest of the stream
	}
	msg = s.secrets.Hide(msg)
	var end struct {
		Error *struct{ Code, Message string } `json:"error"`
	}
	if err := json.Unmarshal(msg, &end); err != nil {
		return s.Unexpected("the JSON of an end-of-stream message", msg)
	}
	if end.Error == nil {
		return io.EOF
	}
	code := end.Error.Code
	if !isCode(code) {
		code = "unknown"
	}
	e := &Error{Code: code, Message: Clip(end.Error.Message), Said: end.Error.Message != "", Status: 200}
	if !e.Said {
		e.Message = "the server ended the stream with " + code + " and did not say why"
	}
	return e
}

// Send makes a client-streaming call: next gives the request messages, io.EOF
// ends them; out is the one answer.
func (c *Client) Send(ctx context.Context, procedure string, next func(context.Context) (Encoder, error), out Parser) error {
	pull := func(ctx context.Context) ([]byte, error) {
		m, err := next(ctx)
		if err != nil {
			return nil, err
		}
		b, err := encode(c.Codec, m, beginEnvelope(nil))
		if err != nil {
			return nil, err
		}
		return endEnvelope(b, 0), nil
	}
	resp, err := c.Host.Do(ctx, c.request(procedure, c.Codec.streamType(), transport.Body{Next: pull}))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := c.checkStream(ctx, resp); err != nil {
		return err
	}
	s := c.stream(resp.Body)
	return s.single(ctx, c.Codec, out)
}

func (s *Stream) single(ctx context.Context, codec Codec, out Parser) error {
	for got := false; ; got = true {
		msg, err := s.Next(ctx)
		switch {
		case errors.Is(err, io.EOF) && got:
			return nil
		case errors.Is(err, io.EOF):
			return &Protocol{Expected: "one answer message", Got: "an empty stream"}
		case err != nil:
			return err
		}
		if err := Parse(codec, out, msg); err != nil {
			return s.Unexpected(codec.streamType(), msg)
		}
	}
}

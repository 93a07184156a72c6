package envd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/retry"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

const maxWriteAnswer = 1 << 20

func (c *Client) filesURL(path, user string) string {
	return c.cfg.Base + "/files" + query{{"path", path}, {"username", c.userOr(user)}}.encode()
}

// Read opens a file for reading; the head has been checked.
func (c *Client) Read(ctx context.Context, spec plane.ReadSpec) (*transport.Response, error) {
	r := &transport.Request{Method: "GET", URL: c.filesURL(spec.Path, spec.User), Header: c.headers(), Bulk: spec.Bulk}
	// Unless asked, no compression: a peer that compresses reads is many times slower.
	encoding := "identity"
	if spec.Gzip {
		encoding = "gzip"
	}
	r.Header.Set("accept-encoding", encoding)
	if spec.Offset != 0 || spec.Length != 0 {
		r.Header.Set("range", byteRange(spec.Offset, spec.Length))
	}
	var resp *transport.Response
	err := retry.Do(ctx, c.cfg.Host, c.cfg.Retry, true, func(ctx context.Context) (err error) {
		resp, err = c.transfer(ctx, r)
		return err
	})
	if err != nil {
		return nil, c.kindOf(ctx, err, spec.Path, spec.User, plane.TypeDirectory, fault.KindIsDirectory)
	}
	return resp, nil
}

func byteRange(offset, length int64) string {
	if length == 0 {
		return fmt.Sprintf("bytes=%d-", offset)
	}
	return fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
}

// transfer sends one /files request under the request clock, which stops at the
// head: the body lives on.
func (c *Client) transfer(ctx context.Context, r *transport.Request) (*transport.Response, error) {
	limited, _, disarm := c.cfg.Host.Limit(ctx, transport.ClockRequest, c.cfg.Request)
	defer disarm()
	silent, _, answered := c.cfg.Host.Limit(limited, transport.ClockIdle, c.silence(r.Body))
	resp, err := c.cfg.Host.Do(silent, r)
	answered()
	if err != nil {
		return nil, c.explain(ctx, connect.Classify(ctx, err, transferArea))
	}
	if resp.Status == 200 || resp.Status == 206 {
		return resp, nil
	}
	defer resp.Body.Close()
	refusal := connect.Failure(resp, connect.ReadSome(limited, c.cfg.Host, resp.Body, 64<<10), connect.SecretsOf(r.Header))
	return nil, c.explain(ctx, connect.Classify(ctx, refusal, transferArea))
}

// atOnce is how large a body may be that is on its way before anybody could wait
// for it. While a larger one is sent, the sandbox has nothing to say.
const atOnce = 64 << 10

// silence is the idle clock until the head of an answer to body.
func (c *Client) silence(body transport.Body) time.Duration {
	size := int64(len(body.Bytes) + len(body.Prefix) + len(body.Suffix))
	if body.Source != nil {
		n, known := body.Source.Size()
		if !known {
			return 0
		}
		size += n
	}
	if body.Next != nil || size > atOnce {
		return 0
	}
	return c.cfg.Silence
}

// Write writes one file.
func (c *Client) Write(ctx context.Context, spec plane.WriteSpec) (*plane.WriteInfo, error) {
	if err := c.writable(spec.Metadata); err != nil {
		return nil, err
	}
	r, err := c.writeRequest(spec)
	if err != nil {
		return nil, err
	}
	// Writing the same bytes again gives the same file; a source that cannot be
	// read twice is sent once.
	again := spec.Source == nil || spec.Source.Replayable()
	infos, err := c.write(ctx, r, again)
	if err != nil {
		return nil, c.kindOf(ctx, err, spec.Path, spec.User, plane.TypeDirectory, fault.KindIsDirectory)
	}
	return &infos[0], nil
}

func (c *Client) writeRequest(spec plane.WriteSpec) (*transport.Request, error) {
	r := &transport.Request{Method: "POST", URL: c.filesURL(spec.Path, spec.User), Header: append(c.headers(), metadataHeaders(spec.Metadata)...)}
	body := transport.Body{Bytes: spec.Bytes, Source: spec.Source, Gzip: spec.Gzip}
	if spec.Gzip {
		r.Header.Set("content-encoding", "gzip")
	}
	if !spec.Multipart && AtLeast(c.cfg.Version, 0, 5, 7) {
		r.Header.Set("content-type", "application/octet-stream")
		r.Body = body
		return r, nil
	}
	form := newForm(c.cfg.Host)
	r.Header.Set("content-type", form.contentType())
	r.Body = form.single(spec.Path, body)
	return r, nil
}

func (c *Client) write(ctx context.Context, r *transport.Request, again bool) ([]plane.WriteInfo, error) {
	var infos []plane.WriteInfo
	err := retry.Do(ctx, c.cfg.Host, c.uploadRetry(again), again, func(ctx context.Context) error {
		resp, err := c.transfer(ctx, r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		// The first clock stopped at the head: some answers come before what is sent has been taken.
		limited, _, disarm := c.cfg.Host.Limit(ctx, transport.ClockRequest, c.cfg.Request)
		defer disarm()
		b, err := connect.ReadLively(limited, c.cfg.Host, resp.Body, maxWriteAnswer, c.cfg.Idle)
		if err != nil {
			return connect.Classify(ctx, err, transferArea)
		}
		if err := json.Unmarshal(b, &infos); err != nil || len(infos) == 0 {
			return fault.New(fault.CodeProtocol, "the peer broke the protocol: it did not say what was written")
		}
		return nil
	})
	return infos, err
}

func (c *Client) uploadRetry(again bool) retry.Policy {
	if !again {
		return retry.Policy{}
	}
	return c.cfg.Retry
}

// WriteMany writes several files in one multipart request. The caller has seen
// to it that no path needs escaping that multipart cannot give.
func (c *Client) WriteMany(ctx context.Context, user string, metadata map[string]string, files []plane.WriteSpec) ([]plane.WriteInfo, error) {
	if err := c.writable(metadata); err != nil {
		return nil, err
	}
	form := newForm(c.cfg.Host)
	r := &transport.Request{Method: "POST", URL: c.filesURL("", user), Header: append(c.headers(), metadataHeaders(metadata)...)}
	r.Header.Set("content-type", form.contentType())
	r.Body = transport.Body{Bytes: form.many(files)}
	return c.write(ctx, r, true)
}

// writable checks metadata here, where the option has its own name (e2b.md 3.2).
func (c *Client) writable(metadata map[string]string) error {
	if len(metadata) > 0 && !AtLeast(c.cfg.Version, 0, 6, 2) {
		return fault.New(fault.CodeCapability, "this sandbox's envd %s cannot keep metadata of files", c.cfg.Version).Suggest("rebuild the template")
	}
	for _, k := range sortedKeys(metadata) {
		if !isToken(k) || len(k) > 246 {
			return fault.InvalidArgument("%s key %q must be an HTTP token of at most 246 characters", fault.Option("metadata"), k)
		}
		if strings.ContainsFunc(metadata[k], func(r rune) bool { return r < ' ' || r > '~' }) {
			return fault.InvalidArgument("%s value of %q must be printable ASCII", fault.Option("metadata"), k)
		}
	}
	return nil
}

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r)
	})
}

func metadataHeaders(m map[string]string) transport.Header {
	var h transport.Header
	for _, k := range sortedKeys(m) {
		h = append(h, [2]string{"x-metadata-" + strings.ToLower(k), m[k]})
	}
	return h
}

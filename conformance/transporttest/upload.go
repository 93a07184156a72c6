package transporttest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func uploadTests() map[string]func(*suite) {
	return map[string]func(*suite){
		"pieces reach the peer one by one":          piecesOneByOne,
		"the answer may come before the last piece": answerBeforeLastPiece,
		"an error of the core ends the exchange":    pieceError,
		"a panic in a piece is contained":           piecePanic,
		"pieces end with the exchange":              piecesEnd,
		"large pieces are exact":                    largePieces,
		"a source of known size has a length":       sourceWithLength,
		"a source of unknown size is chunked":       sourceWithoutLength,
		"a source that fails ends the exchange":     sourceError,
		"a file source can be sent again":           sourceReplay,
		"a large file is exact":                     largeFile,
		"a source that ends early is an error":      sourceTooShort,
	}
}

func post(url string, b transport.Body) *transport.Request {
	return &transport.Request{Method: "POST", URL: url, Body: b}
}

func piecesOneByOne(s *suite) {
	arrived := make(chan string, 3)
	p := s.peer(func(c *conn) {
		lines := bufio.NewScanner(c.request().Body)
		for lines.Scan() {
			arrived <- lines.Text()
		}
		c.send(hello)
		c.gone()
	})
	sent := 0
	got := s.do(fetching(post(p.url, transport.Body{Next: func(context.Context) ([]byte, error) {
		if sent > 0 && <-arrived != "piece" {
			return nil, errors.New("the last piece has not arrived")
		}
		if sent == 3 {
			return nil, io.EOF
		}
		sent++
		return []byte("piece\n"), nil
	}})))
	require.Equal(s, "hello", got)
}

func answerBeforeLastPiece(s *suite) {
	p := s.peer(func(c *conn) {
		r := c.request()
		c.send(chunkedHead)
		c.body(r)
		c.send("5\r\nhello\r\n0\r\n\r\n")
		c.gone()
	})
	require.Equal(s, "hello", s.do(func(ctx context.Context, h transport.Host) (any, error) {
		more := make(chan []byte, 1)
		first := true
		r, err := h.Do(ctx, post(p.url, transport.Body{Next: func(ctx context.Context) ([]byte, error) {
			if first {
				first = false
				return []byte("first"), nil
			}
			for { // a core has no channels: it looks and sleeps
				select {
				case b := <-more:
					_ = b
					return nil, io.EOF
				default:
				}
				if err := h.Sleep(ctx, short/10); err != nil {
					return nil, err
				}
			}
		}}))
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		more <- nil
		return readAll(ctx, r.Body)
	}))
}

func pieceError(s *suite) {
	p := s.peer(func(c *conn) { c.skip(); c.gone() })
	sent := false
	err := s.fails(fetching(post(p.url, transport.Body{Next: func(context.Context) ([]byte, error) {
		if sent {
			return nil, errCaller
		}
		sent = true
		return []byte("x"), nil
	}})))
	require.Equal(s, errCaller, err)
}

func piecePanic(s *suite) {
	p := s.peer(func(c *conn) { c.skip(); c.gone() })
	err := s.fails(fetching(post(p.url, transport.Body{Next: func(context.Context) ([]byte, error) { panic("boom") }})))
	s.internal(err)
}

func piecesEnd(s *suite) {
	p := s.peer(func(c *conn) { c.request(); c.send(hello); c.gone() })
	ended := make(chan struct{})
	s.do(func(ctx context.Context, h transport.Host) (any, error) {
		return fetch(ctx, h, post(p.url, transport.Body{Next: func(ctx context.Context) ([]byte, error) {
			defer close(ended)
			return nil, h.Sleep(ctx, time.Minute)
		}}))
	})
	s.wait(ended, "the ctx of the pieces ends")
}

func largePieces(s *suite) {
	want := strings.Repeat("0123456789abcdef", 8<<10)
	got := make(chan string, 1)
	p := s.peer(func(c *conn) { got <- c.body(c.request()); c.send(hello); c.gone() })
	n := 0
	s.do(fetching(post(p.url, transport.Body{Next: func(context.Context) ([]byte, error) {
		if n++; n > 10 {
			return nil, io.EOF
		}
		return []byte(want), nil
	}})))
	require.True(s, <-got == strings.Repeat(want, 10))
}

// wire does a request with a body and gives what the peer saw of it.
func (s *suite) wire(b transport.Body) (length int64, body string) {
	p, seen := s.seeing()
	s.do(fetching(post(p.url, b)))
	r := <-seen
	got, _ := io.ReadAll(r.Body)
	return r.ContentLength, string(got)
}

func sourceWithLength(s *suite) {
	big := strings.Repeat("x", 1<<20)
	for want, b := range map[string]transport.Body{
		"":                 {Source: s.fixture.Source(strings.NewReader(""), 0)},
		"data":             {Source: s.fixture.Source(strings.NewReader("data"), 4)},
		"da":               {Source: s.fixture.Source(strings.NewReader("data"), 2)},
		"head data tail":   {Source: s.fixture.Source(strings.NewReader("data"), -1), Prefix: []byte("head "), Suffix: []byte(" tail")},
		"head tail":        {Source: s.fixture.Source(strings.NewReader(""), 0), Prefix: []byte("head "), Suffix: []byte("tail")},
		"<" + big + ">":    {Source: s.fixture.Source(strings.NewReader(big), -1), Prefix: []byte("<"), Suffix: []byte(">")},
		"reader " + "data": {Source: s.fixture.Source(io.MultiReader(strings.NewReader("data")), 4), Prefix: []byte("reader ")},
	} {
		length, body := s.wire(b)
		require.True(s, want == body, "body")
		require.EqualValues(s, len(want), length)
	}
}

func sourceWithoutLength(s *suite) {
	r := io.MultiReader(strings.NewReader("da"), strings.NewReader("ta"))
	length, body := s.wire(transport.Body{Source: s.fixture.Source(r, -1), Prefix: []byte("<"), Suffix: []byte(">")})
	require.Equal(s, "<data>", body)
	require.EqualValues(s, -1, length)
}

type badReader struct{ sent bool }

func (b *badReader) Read(p []byte) (int, error) {
	if b.sent {
		return 0, errCaller
	}
	b.sent = true
	return copy(p, "x"), nil
}

func sourceError(s *suite) {
	p := s.peer(func(c *conn) { c.skip(); c.gone() })
	for _, size := range []int64{-1, 9} {
		err := s.fails(fetching(post(p.url, transport.Body{Source: s.fixture.Source(&badReader{}, size)})))
		require.ErrorIs(s, err, errCaller)
	}
}

func sourceReplay(s *suite) {
	name := filepath.Join(s.TempDir(), "data")
	require.NoError(s, os.WriteFile(name, []byte("0123456789"), 0o600))
	f, err := os.Open(name)
	require.NoError(s, err)
	defer f.Close()
	_, err = f.Seek(4, io.SeekStart)
	require.NoError(s, err)
	source := s.fixture.Source(f, -1)
	require.True(s, source.Replayable())
	for range 2 {
		length, body := s.wire(transport.Body{Source: source})
		require.Equal(s, "456789", body)
		require.EqualValues(s, 6, length)
	}
	require.False(s, s.fixture.Source(&badReader{}, -1).Replayable())
}

func (s *suite) file(content string) *os.File {
	name := filepath.Join(s.TempDir(), "data")
	require.NoError(s, os.WriteFile(name, []byte(content), 0o600))
	f, err := os.Open(name)
	require.NoError(s, err)
	s.Cleanup(func() { _ = f.Close() })
	return f
}

func largeFile(s *suite) {
	var all strings.Builder
	for i := range 600_000 {
		fmt.Fprintf(&all, "%09d\n", i)
	}
	f := s.file(all.String())
	_, err := f.Seek(12_345, io.SeekStart)
	require.NoError(s, err)
	source := s.fixture.Source(f, 5_000_000)
	for _, edge := range []string{"", "edge"} {
		length, body := s.wire(transport.Body{Source: source, Prefix: []byte(edge), Suffix: []byte(edge)})
		require.True(s, body == edge+all.String()[12_345:5_012_345]+edge)
		require.EqualValues(s, len(body), length)
	}
}

func sourceTooShort(s *suite) {
	p := s.peer(func(c *conn) { c.skip(); c.gone() })
	for _, r := range []io.Reader{strings.NewReader("short"), s.file(strings.Repeat("short", 100_000))} {
		s.fails(fetching(post(p.url, transport.Body{Source: s.fixture.Source(r, 1<<20)})))
	}
}

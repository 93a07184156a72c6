// Package transporttest is the one test suite for every transport.Host: what the
// core may rely on, tried against real loopback peers.
package transporttest

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Config is what a fixture must give its host.
type Config struct {
	CAFile   string // PEM of the authority that the TLS peers use
	StoreDir string // where the store may write
}

// Func is an operation as the core writes it.
type Func = func(ctx context.Context, h transport.Host) (any, error)

// Fixture is one host under test. It ends with the test that made it.
type Fixture struct {
	// Run runs fn as one operation and waits for its result.
	Run func(ctx context.Context, fn Func) (any, error)
	// Source makes bulk data of a reader; size below zero is unknown.
	Source func(r io.Reader, size int64) transport.Source
}

// suite is one subtest with its fixture.
type suite struct {
	*testing.T
	fixture   Fixture
	authority *authority
	ctx       context.Context
	store     string
}

// patience bounds every test: a wait that should have ended fails, not hangs.
const patience = 10 * time.Second

// Run runs the suite. make is called for each test anew.
func Run(t *testing.T, make func(t *testing.T, c Config) Fixture) {
	a := newAuthority(t)
	for _, group := range []map[string]func(*suite){
		exchangeTests(), bodyTests(), failureTests(), clockTests(), uploadTests(),
		flightTests(), parTests(), streamTests(), socketTests(), hostTests(),
	} {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				ignore := goleak.IgnoreCurrent()
				t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				t.Cleanup(cancel)
				store := filepath.Join(t.TempDir(), "store")
				f := make(t, Config{CAFile: a.file, StoreDir: store})
				test(&suite{T: t, fixture: f, authority: a, ctx: ctx, store: store})
			})
		}
	}
}

// do runs fn and wants a value.
func (s *suite) do(fn Func) any {
	s.Helper()
	v, err := s.fixture.Run(s.ctx, fn)
	require.NoError(s, err)
	return v
}

// fails runs fn and wants an error.
func (s *suite) fails(fn Func) error {
	s.Helper()
	_, err := s.fixture.Run(s.ctx, fn)
	require.Error(s, err)
	return err
}

// netError runs fn and wants a NetError.
func (s *suite) netError(fn Func) *transport.NetError {
	s.Helper()
	var e *transport.NetError
	err := s.fails(fn)
	require.ErrorAs(s, err, &e)
	require.NotErrorIs(s, err, io.EOF, "a failure that looks like a good end")
	return e
}

// wait wants done to be closed soon.
func (s *suite) wait(done <-chan struct{}, what string) {
	s.Helper()
	select {
	case <-done:
	case <-time.After(patience / 2):
		require.Fail(s, "never happened: "+what)
	}
}

func get(url string) *transport.Request { return &transport.Request{Method: "GET", URL: url} }

// fetch does a request and reads the whole body.
func fetch(ctx context.Context, h transport.Host, r *transport.Request) (string, error) {
	resp, err := h.Do(ctx, r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return readAll(ctx, resp.Body)
}

func readAll(ctx context.Context, b transport.ResponseBody) (string, error) {
	var all []byte
	for {
		chunk, err := b.Next(ctx)
		if err == io.EOF {
			return string(all), nil
		}
		if err != nil {
			return string(all), err
		}
		all = append(all, chunk...)
	}
}

// fetching is fetch as an operation.
func fetching(r *transport.Request) Func {
	return func(ctx context.Context, h transport.Host) (any, error) { return fetch(ctx, h, r) }
}

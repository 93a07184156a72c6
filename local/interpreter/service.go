package interpreter

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
)

// Port is where clients expect the service in a sandbox.
const Port = 49999

// Options configure a Service. Launcher, Users and Dir are required.
type Options struct {
	// Launcher starts the kernels.
	Launcher daemon.Launcher
	// Users knows the account that kernels run as.
	Users daemon.UserDB
	// User is its name; "" is "user".
	User string
	// Env gives the variables of the sandbox, which may change; nil is none.
	Env func() map[string]string
	// Dir is where the kernels' sockets go. It is made at the first kernel, for
	// the account alone. Its path may have 80 bytes.
	Dir string
	// ProcessMemory is what each process may have, in bytes, where memory that is
	// only reserved counts too; 0 is no such bound.
	ProcessMemory int64
	// OOMKills counts the processes that the system killed for want of memory; nil
	// when nobody knows.
	OOMKills func() int64
	// Token gives the sandbox's access token; a request with another one is
	// refused, one without is not (as at E2B). nil is none.
	Token func() string
	// Log receives what no client can be told; nil discards it.
	Log *slog.Logger
	// Keepalive is the silence after which a client is told that the execution
	// goes on; 0 is 5 s.
	Keepalive time.Duration
}

// Service is one sandbox's interpreter. Make it with New, end it with Close.
type Service struct {
	options  Options
	contexts *contexts
	handler  http.Handler
}

// New makes a service. It starts nothing and touches no file.
func New(o Options) *Service {
	if o.User == "" {
		o.User = "user"
	}
	if o.Env == nil {
		o.Env = func() map[string]string { return nil }
	}
	if o.Token == nil {
		o.Token = func() string { return "" }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Keepalive == 0 {
		o.Keepalive = 5 * time.Second
	}
	s := &Service{options: o}
	s.contexts = newContexts(&workshop{options: &s.options, kills: &memoryKills{count: o.OOMKills}})
	s.handler = allowOrigins(s.authorize(s.routes()))
	return s
}

// Handler serves everything.
func (s *Service) Handler() http.Handler { return s.handler }

// Close ends every kernel with all that it started.
func (s *Service) Close() { s.contexts.close() }

//go:build linux

package local

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/egress"
	"github.com/agent-sandbox/agent-sandbox/local/fleet"
	"github.com/agent-sandbox/agent-sandbox/local/gateway"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/local/pages"
	"github.com/agent-sandbox/agent-sandbox/local/pool"
	"github.com/agent-sandbox/agent-sandbox/local/template"
)

const (
	// headerLimit is how long a client may take over the head of a request.
	headerLimit = 30 * time.Second
	// idleLimit is how long a connection is kept between requests (e2b.md 2.3).
	idleLimit = 620 * time.Second
)

// Server makes sandboxes, answers for them and ends with them. Make it with
// New; all methods may be called from any goroutine.
type Server struct {
	opt     Options
	log     *slog.Logger
	engine  engine
	built   *template.Store
	ready   *pool.Pool[*ready]
	egress  *egress.Host
	sockets *sockets
	fleet   *fleet.Fleet
	members *members
	keys    *access.Keys
	origins *access.Origins
	creates *replays
	// pages is nil where none are served.
	pages *pages.Directory
	codes *pages.Codes
	// began is when the server started, to the second.
	began time.Time
	// activity knows when somebody last wanted something.
	activity *activity
	gateway  http.Handler
	control  http.Handler
	http     *http.Server
	close    sync.Once
	closed   error
}

// New probes the machine, removes what a crashed server left behind, and
// returns a server that does not listen yet. ctx bounds the start only.
func New(ctx context.Context, opt Options) (*Server, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if err := makePrivate(opt.StateDir); err != nil {
		return nil, err
	}
	built, err := template.Open(template.Dir(opt.StateDir))
	if err != nil {
		return nil, err
	}
	eng, err := isolation.Open(ctx, isolation.Config{
		StateDir: filepath.Join(opt.StateDir, "boxes"), Binary: opt.Binary, Pool: opt.DiskPool, Built: built.Templates, Log: opt.Log,
	})
	if err != nil {
		return nil, err
	}
	s, err := newServer(opt, boxes{eng}, built)
	if err != nil {
		return nil, errors.Join(err, eng.Close())
	}
	return s, nil
}

// newServer makes a server of an engine; built is nil where no templates are.
func newServer(opt Options, eng engine, built *template.Store) (*Server, error) {
	origins, err := access.NewOrigins(opt.AllowOrigins)
	if err != nil {
		return nil, err
	}
	served, err := openPages(opt.Pages)
	if err != nil {
		return nil, err
	}
	sockets, err := openSockets(opt.StateDir)
	if err != nil {
		return nil, errors.Join(err, closePages(served))
	}
	s := &Server{
		pages: served, codes: pages.NewCodes(time.Now),
		opt: opt, log: opt.Log, engine: eng, built: built, origins: origins, sockets: sockets,
		egress:   egress.NewHost(egress.HostOptions{Registries: opt.Registries, Env: os.Environ(), Log: opt.Log}),
		fleet:    fleet.New(opt.Log),
		members:  &members{byID: map[string]*sandbox{}},
		keys:     access.NewKeys(opt.APIKey),
		creates:  newReplays(),
		began:    time.Now().UTC().Truncate(time.Second),
		activity: newActivity(),
	}
	errorLog := slog.NewLogLogger(opt.Log.Handler(), slog.LevelDebug)
	s.ready = s.newReady()
	s.gateway = gateway.New(s.members, errorLog)
	s.control = s.newControl()
	s.http = &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerLimit, IdleTimeout: idleLimit, ErrorLog: errorLog,
	}
	return s, nil
}

// Serve answers on l until Close. It may be called for several listeners at
// once. The error is nil after Close.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends all sandboxes and then the server, and leaves nothing behind.
func (s *Server) Close() error {
	s.close.Do(func() {
		s.closed = s.http.Close()
		s.ready.Close()
		s.fleet.Close()
		s.closed = errors.Join(s.closed, s.engine.Close(), s.sockets.close(), closePages(s.pages))
	})
	return s.closed
}

// Idle reports whether nobody uses the server: no sandbox, not even a paused
// one, and no request under way. since is when the last of them ended.
func (s *Server) Idle() (since time.Time, idle bool) {
	since, busy := s.activity.last()
	return since, !busy && s.fleet.Len() == 0
}

// PageKey makes the key that pages of one web origin may use, and allows that
// origin. It stays valid as long as the server's own key.
func (s *Server) PageKey(origin string) (string, error) {
	key, err := s.keys.PageKey(origin)
	if err != nil {
		return "", err
	}
	return key, s.origins.Add(origin)
}

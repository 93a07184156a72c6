package hosting

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/build"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/local"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Server is a local server inside this program.
type Server struct {
	local *local.Server
	info  native.ServerInfo
	port  int
	ended chan error
}

// Transient starts a server for this program alone: a key of its own, a free
// port, no state file.
func Transient(ctx context.Context, o Options) (*Server, error) {
	o.Pool = -1 // nobody knows of another sandbox to come
	return open(ctx, o, newKey(), 0)
}

// open starts a server. The caller closes it.
func open(ctx context.Context, o Options, key string, preferred int) (*Server, error) {
	if !filepath.IsAbs(native.StateDir(o.Getenv)) {
		return nil, fault.InvalidArgument("HOME is not set, so there is no place for the server's state").Suggest("set HOME or XDG_STATE_HOME to an absolute path")
	}
	pool, err := o.interpreterPool()
	if err != nil {
		return nil, err
	}
	listeners, port, err := listen(o.Port, preferred)
	if err != nil {
		return nil, err
	}
	s := &Server{port: port, ended: make(chan error, len(listeners))}
	s.local, err = local.New(ctx, local.Options{
		StateDir: native.StateDir(o.Getenv), Internet: o.Internet, Registries: o.Registries, AllowOrigins: o.AllowOrigins,
		Pages:  o.Pages,
		APIKey: key, Log: o.Log, Version: build.Version(), DiskPool: o.Pool, InterpreterPool: pool,
	})
	if err != nil {
		for _, l := range listeners {
			_ = l.Close()
		}
		return nil, explain(err)
	}
	for _, l := range listeners {
		go func() { s.ended <- s.local.Serve(l) }()
	}
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	s.info = native.ServerInfo{
		Schema: native.StateSchema, Build: build.ID(), PID: syscall.Getpid(), StartTime: time.Now().UTC(), Version: build.Version(),
		URL: url, SandboxURL: url, APIKey: key,
	}
	return s, nil
}

// Info is what a client needs to use the server.
func (s *Server) Info() native.ServerInfo { return s.info }

// Close ends every sandbox and the server, and leaves nothing behind.
func (s *Server) Close() error { return s.local.Close() }

// idleFor is how long nobody has used the server; 0 = somebody does.
func (s *Server) idleFor() time.Duration {
	since, idle := s.local.Idle()
	if !idle {
		return 0
	}
	return time.Since(since)
}

// listen takes the loopback addresses of both families, at the asked port, else
// at the preferred one when it is free, else at any.
func listen(asked, preferred int) (listeners []net.Listener, port int, err error) {
	first := asked
	if asked == 0 {
		first = preferred
	}
	l, err := net.Listen("tcp4", address("127.0.0.1", first))
	if err != nil && asked == 0 && first != 0 {
		l, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, 0, fault.InvalidArgument("port %d is in use by another program", asked).Because(err).
			Suggest("choose another --port, or leave it out")
	}
	if err != nil {
		return nil, 0, fault.InvalidArgument("cannot listen on port %d", asked).Because(err).
			Suggest("ports below 1024 need root; leave --port out for a free one")
	}
	port = l.Addr().(*net.TCPAddr).Port
	listeners = []net.Listener{l}
	// Names like localhost lead to ::1 first on many machines; where IPv6 is off
	// they do not.
	if six, err := net.Listen("tcp6", address("::1", port)); err == nil {
		listeners = append(listeners, six)
	}
	return listeners, port, nil
}

func address(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// explain puts an error of the start into ours.
func explain(err error) error {
	if err == nil || fault.As(err) != nil {
		return err
	}
	return fault.New(fault.CodeConnectFailed, "the local server could not be started: %v", err).Because(err).
		Suggest("sandboxc doctor says what this machine lacks")
}

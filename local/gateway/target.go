package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// DaemonPort is the port of the daemon in every sandbox.
const DaemonPort = 49983

// Why a sandbox takes no traffic now. Target.Enter returns these.
var (
	// ErrGone: it is ending.
	ErrGone = errors.New("the sandbox is gone")
	// ErrPaused: it is paused, and this traffic does not wake it.
	ErrPaused = errors.New("the sandbox is paused")
	// ErrChanging: it is being paused or resumed.
	ErrChanging = errors.New("the sandbox is changing state")
	// ErrFull: it stands still because it wrote more than its disk limit.
	ErrFull = errors.New("the sandbox is over its disk limit")
)

// ErrPortClosed is what a Dialer returns when nothing listens on the port.
var ErrPortClosed = errors.New("port is not open")

// Target is one sandbox as the gateway sees it.
type Target interface {
	ID() string
	// Token is the daemon's access token, "" when it asks for none.
	Token() string
	// TrafficToken guards all other ports; "" when they are public.
	TrafficToken() string
	// MaskHost replaces the Host of requests to other ports; "" keeps it.
	MaskHost() string
	// Enter is asked before each request: nil lets it through, after waking the
	// sandbox where its settings and mayWake allow that.
	Enter(ctx context.Context, mayWake bool) error
	// Transport carries requests whose URL host is Address(port).
	Transport() http.RoundTripper
}

// Directory knows the sandboxes of a server.
type Directory interface {
	// Target returns nil for an unknown ID.
	Target(id string) Target
	Targets() []Target
}

// Dialer connects to a port of one sandbox.
type Dialer func(ctx context.Context, port int) (net.Conn, error)

// Address is the URL host of a port in a Transport's requests.
func Address(port int) string { return "sandbox:" + strconv.Itoa(port) }

// NewTransport makes the connection pool of one sandbox. Idle connections end
// after a minute, which is sooner than the daemon would end them.
func NewTransport(dial Dialer) *http.Transport {
	large := newBuffers(largeBuffer)
	return &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			n, err := strconv.Atoi(port)
			if err != nil {
				return nil, err
			}
			conn, err := dial(ctx, n)
			if err != nil {
				return nil, err
			}
			return wide{conn, large}, nil
		},
		DisableCompression:  true,
		MaxIdleConnsPerHost: 32,
		IdleConnTimeout:     time.Minute,
		// Several chunks of a fast stream in one read, and so in one write.
		ReadBufferSize: smallBuffer,
	}
}

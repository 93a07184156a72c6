//go:build linux

package local

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/fleet"
	"github.com/agent-sandbox/agent-sandbox/local/gateway"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// sandbox is a member of the fleet with what the wire says about it. It is
// also a gateway.Target.
type sandbox struct {
	*fleet.Sandbox
	fleet    *fleet.Fleet
	template isolation.Template
	alias    string
	metadata map[string]string
	size     size
	limits   []api.Limit
	// mounts is set when directories of the host are shown inside.
	mounts bool
	// token is the daemon's, traffic guards the other ports; "" = open.
	token, traffic, mask string
	net                  *network
	transport            *http.Transport
}

// Token is the daemon's access token.
func (s *sandbox) Token() string { return s.token }

// TrafficToken guards the ports beside the daemon's.
func (s *sandbox) TrafficToken() string { return s.traffic }

// MaskHost replaces the Host of requests to those ports.
func (s *sandbox) MaskHost() string { return s.mask }

// Transport carries requests inside.
func (s *sandbox) Transport() http.RoundTripper { return s.transport }

// Enter lets traffic in when the sandbox runs. Traffic waits for a resume that
// is under way, and begins one where that is wanted.
func (s *sandbox) Enter(ctx context.Context, mayWake bool) error {
	state := s.State()
	mayWake = mayWake && s.Resumes()
	switch {
	case state == fleet.Running && s.full():
		return gateway.ErrFull
	case state == fleet.Running:
		return nil
	case state == fleet.Killing:
		return gateway.ErrGone
	case state == fleet.Paused && !mayWake:
		return gateway.ErrPaused
	case state == fleet.Pausing && !mayWake:
		return gateway.ErrChanging
	case mayWake:
		return entry(s.fleet.Wake(ctx, s.Sandbox))
	}
	state, err := s.Settle(ctx)
	if err == nil && state == fleet.Paused {
		return gateway.ErrPaused
	}
	return entry(err)
}

// full reports whether the sandbox stands still at its disk limit.
func (s *sandbox) full() bool {
	b, ok := s.Box().(interface{ Full() bool })
	return ok && b.Full()
}

// relieve lets a full sandbox go on for a moment, so that files can be deleted.
func (s *sandbox) relieve(ctx context.Context) (relieved bool, err error) {
	if s.State() != fleet.Running || !s.full() {
		return false, nil
	}
	s.Note("sandbox over its disk limit goes on for a moment")
	return true, s.Box().Resume(ctx)
}

// entry puts an error of the fleet into the gateway's words.
func entry(err error) error {
	var state *fleet.StateError
	if !errors.As(err, &state) {
		return err
	}
	if state.State == fleet.Killing {
		return gateway.ErrGone
	}
	return gateway.ErrChanging
}

// dial connects to a port of the sandbox.
func (s *sandbox) dial(ctx context.Context, port int) (net.Conn, error) {
	if port == gateway.DaemonPort {
		return s.Box().Dial(ctx)
	}
	return s.Box().DialPort(ctx, port)
}

// members finds a server's sandboxes by ID. It is a gateway.Directory.
type members struct {
	mu   sync.RWMutex
	byID map[string]*sandbox
}

func (m *members) put(s *sandbox) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byID[s.ID()] = s
}

func (m *members) drop(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byID, id)
}

func (m *members) get(id string) *sandbox {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.byID[id]
}

func (m *members) all() []*sandbox {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := make([]*sandbox, 0, len(m.byID))
	for _, s := range m.byID {
		all = append(all, s)
	}
	return all
}

// Target finds one sandbox for the gateway.
func (m *members) Target(id string) gateway.Target {
	if s := m.get(id); s != nil {
		return s
	}
	return nil
}

// Targets are all sandboxes for the gateway.
func (m *members) Targets() []gateway.Target {
	all := m.all()
	targets := make([]gateway.Target, len(all))
	for i, s := range all {
		targets[i] = s
	}
	return targets
}

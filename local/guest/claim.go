//go:build linux

package guest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// Warmer is a service that can be got ready while the sandbox is nobody's.
type Warmer interface {
	// Warm starts what takes long, and returns when that is ready.
	Warm(ctx context.Context) error
	// Claim is told the variables of every process from now on, once, before the
	// owner is served. It does not wait for what was started.
	Claim(ctx context.Context, env map[string]string) error
}

// warmLimit bounds Warm, and claimLimit Claim, on a machine that is too busy.
const (
	warmLimit  = 60 * time.Second
	claimLimit = 5 * time.Second
)

// errNotWarm is the answer of a service that has nothing to start.
var errNotWarm = errors.New("the service of this sandbox cannot be started in advance")

// warm answers when the service is ready.
func (p *process1) warm(answer *os.File) {
	err := errNotWarm
	if p.warmer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), warmLimit)
		defer cancel()
		err = p.warmer.Warm(ctx)
	}
	reply(answer, err)
}

// takeClaim makes the sandbox its owner's. Nobody is served before: connections
// are handed over later on the same socket.
func (p *process1) takeClaim(doc, answer *os.File) {
	defer doc.Close()
	var c boot.Claim
	b, err := io.ReadAll(io.NewSectionReader(doc, 0, 1<<30))
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err == nil {
		err = p.claim(&c)
	}
	reply(answer, err)
}

func (p *process1) claim(c *boot.Claim) error {
	p.cfg.Envs, p.cfg.CPUs, p.cfg.MemoryBytes = c.Envs, c.CPUs, c.MemoryBytes
	if !c.Internet && p.relay != nil {
		// Both this and its own goroutine close it.
		if err := p.relay.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		p.relay, p.networkEnv = nil, offEnv(p.cfg.Hostname)
	}
	if p.warmer == nil {
		return errNotWarm
	}
	ctx, cancel := context.WithTimeout(context.Background(), claimLimit)
	defer cancel()
	return p.warmer.Claim(ctx, p.environment())
}

// reply answers the host side and closes the socket.
func reply(answer *os.File, err error) {
	c, failed := boot.Conn(answer)
	if failed != nil {
		return
	}
	defer c.Close()
	m := boot.Message{Op: boot.OpReady}
	if err != nil {
		m = failure(err)
	}
	_ = boot.Send(c, m)
}

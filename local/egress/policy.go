package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/egress/splice"
)

const (
	// maxConnections bounds what one sandbox may hold open, questions included.
	maxConnections = 1024
	// acceptPause is the wait after an accept that failed for lack of descriptors.
	acceptPause = 10 * time.Millisecond
)

// Policy is the network of one sandbox.
type Policy struct {
	host     *Host
	listener *net.UnixListener
	rules    atomic.Pointer[ruleset]
	book     *book
	links    splice.Set
	accepted chan struct{}
	ctx      context.Context // ends with Close: bounds lookups and dials of all links
	cancel   context.CancelFunc
}

func newPolicy(h *Host, l *net.UnixListener, s *ruleset) *Policy {
	p := &Policy{host: h, listener: l, book: newBook(), accepted: make(chan struct{})}
	p.links.Max = maxConnections
	p.rules.Store(s)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Update replaces the rules, and cuts connections that the new rules refuse.
// Invalid rules change nothing.
func (p *Policy) Update(r Rules) error {
	s, err := compile(r)
	if err != nil {
		return err
	}
	p.rules.Store(s)
	p.links.Each(func(c io.Closer) {
		if l, ok := c.(*link); ok {
			l.recheck()
		}
	})
	return nil
}

// Rules returns the rules in force.
func (p *Policy) Rules() Rules { return p.ruleset().rules }

func (p *Policy) ruleset() *ruleset { return p.rules.Load() }

// Close stops listening, cuts every connection and waits for their ends.
func (p *Policy) Close() error {
	p.cancel()
	err := p.listener.Close()
	<-p.accepted
	p.links.Close()
	return err
}

func (p *Policy) accept() {
	defer close(p.accepted)
	for {
		c, err := p.listener.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
		default:
			l := &link{policy: p, inside: c}
			p.links.Go(l, func() {
				if h := p.host; h.budget.enter() {
					defer h.budget.leave()
					l.serve()
				}
			})
		}
	}
}

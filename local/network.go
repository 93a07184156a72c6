//go:build linux

package local

import (
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/egress"
)

// network is a sandbox's way out.
type network struct {
	// policy is nil for a sandbox that was made without a network: it has no
	// route, and none can be added.
	policy *egress.Policy

	mu sync.Mutex
	// wire and allow are what SandboxDetail shows.
	wire  *api.Network
	allow *bool
}

// networkPlan is what create asked for, checked.
type networkPlan struct {
	wire  *api.Network
	allow *bool
	rules egress.Rules
	// open is set when there is to be a way out at all.
	open bool
}

// planNetwork checks what create asked for.
func (s *Server) planNetwork(n *api.NewSandbox, grant access.Grant) (*networkPlan, error) {
	allow := s.opt.Internet
	if n.AllowInternetAccess != nil {
		allow = *n.AllowInternetAccess
	}
	rules, err := parseRules(n.Network, &allow)
	if err != nil {
		return nil, err
	}
	if err := s.checkReach(rules, grant); err != nil {
		return nil, err
	}
	return &networkPlan{wire: n.Network, allow: n.AllowInternetAccess, rules: rules, open: allow || len(rules.AllowOut) > 0}, nil
}

// openNetwork opens the way out. socket is "" for a sandbox without a network.
func (s *Server) openNetwork(id string, plan *networkPlan) (net *network, socket string, err error) {
	net = &network{wire: plan.wire, allow: plan.allow}
	if !plan.open {
		return net, "", nil
	}
	net.policy, err = s.egress.Open(s.sockets.address(id), plan.rules)
	return net, s.sockets.path(id), err
}

// checkReach keeps the key of a page from opening the host's own network.
func (s *Server) checkReach(rules egress.Rules, grant access.Grant) error {
	if grant == access.Owner {
		return nil
	}
	if what := s.egress.ReachesHost(rules); what != "" {
		return api.Faultf(http.StatusForbidden, "the key of a page may not use %s: it reaches the host's own network", what)
	}
	return nil
}

// reaches tells whether the host's own network is open to the sandbox.
func (n *network) reaches(h *egress.Host) bool {
	return n.policy != nil && h.ReachesHost(n.policy.Rules()) != ""
}

// shows tells whether a request may know of a sandbox. One that reaches into the
// host is its owner's alone: with it, a page would reach there too.
func (s *Server) shows(r *http.Request, sb *sandbox) bool {
	return grantOf(r) == access.Owner || !(sb.mounts || sb.net.reaches(s.egress))
}

// parseRules validates the network part of a request.
func parseRules(wire *api.Network, allow *bool) (egress.Rules, error) {
	text, err := json.Marshal(wire)
	if err != nil {
		return egress.Rules{}, err
	}
	rules, err := egress.ParseRules(text, allow)
	var invalid *egress.InvalidError
	if errors.As(err, &invalid) {
		return rules, api.Invalid("%s", invalid.Message)
	}
	return rules, err
}

// update replaces the rules of a running sandbox.
func (n *network) update(u *api.NetworkUpdate, check func(egress.Rules) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	next := n.wire.With(u)
	rules, err := parseRules(next, u.AllowInternetAccess)
	if err == nil {
		err = check(rules)
	}
	if err != nil {
		return err
	}
	if n.policy != nil {
		if err := n.policy.Update(rules); err != nil {
			return err
		}
	} else if (u.AllowInternetAccess != nil && *u.AllowInternetAccess) || len(rules.AllowOut) > 0 {
		return api.Faultf(http.StatusConflict,
			"the sandbox was made with the internet off and has no network: it cannot be turned on later")
	}
	n.wire, n.allow = next, u.AllowInternetAccess
	return nil
}

// shown returns what SandboxDetail says of the network.
func (n *network) shown() (wire *api.Network, allow *bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wire.Shown(), n.allow
}

func (n *network) close() {
	if n.policy != nil {
		// What it would report is the end of connections that are to end.
		_ = n.policy.Close()
	}
}

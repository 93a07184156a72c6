//go:build linux

package guest

import (
	"context"
	"os"
	"path/filepath"

	"github.com/agent-sandbox/agent-sandbox/local/egress/inside"
	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// runDir holds the sockets of process 1 inside.
const runDir = "/run/sandboxc"

// egressSocket is where the host side of the relay is reached.
const egressSocket = runDir + "/egress.sock"

// setupNetwork gives the sandbox a relay or loopback only.
func (p *process1) setupNetwork() error {
	if !p.cfg.Internet {
		return inside.NoNetwork()
	}
	relay, _, err := inside.Setup()
	p.relay = relay
	return err
}

// startRelay lets the relay work, once the files that it needs are there.
func (p *process1) startRelay() error {
	if p.relay == nil {
		return nil
	}
	if err := writeResolv(p.relay.Nameserver()); err != nil {
		return err
	}
	p.networkEnv = p.relay.Env()
	go p.relay.Serve(context.Background(), egressSocket)
	return nil
}

func writeResolv(nameserver string) error {
	return os.WriteFile("/etc/resolv.conf", []byte("nameserver "+nameserver+"\n"), 0o644)
}

// mountEgress shows the host side's socket, to process 1 alone.
func (p *process1) mountEgress() error {
	if _, ok := p.trees[boot.FDEgress]; !ok {
		return nil
	}
	target := filepath.Join("new", egressSocket)
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		return err
	}
	return p.trees.attach(boot.FDEgress, target)
}

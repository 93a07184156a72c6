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
const runDir = boot.RunDir

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
		p.networkEnv = offEnv(p.cfg.Hostname)
		return nil
	}
	if err := writeResolv(p.relay.Nameserver()); err != nil {
		return err
	}
	p.networkEnv = p.relay.Env()
	go p.relay.Serve(context.Background(), egressSocket)
	return nil
}

// offProxy is a proxy that does not exist. Every program that fails for want of
// a network names the proxy that it could not find, so that pip, npm, apt, curl
// and git say in their own error line what is off and how to turn it on.
const (
	offHost  = "this-sandbox-has-no-network.turn-it-on-with--internet-on.or-allow-internet-access-true"
	offProxy = "http://" + offHost
)

func offEnv(hostname string) []string {
	direct := "localhost,127.0.0.1,127.0.0.0/8,::1,0.0.0.0,.localhost," + hostname
	env := []string{
		"NO_PROXY=" + direct, "no_proxy=" + direct,
		// pip does not name its proxy, but an index that is not the usual one;
		// and its retries would take 15 seconds.
		"PIP_INDEX_URL=https://" + offHost + "/simple", "PIP_RETRIES=0",
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+offProxy)
	}
	return env
}

func writeResolv(nameserver string) error {
	return os.WriteFile(runDir+"/resolv.conf", []byte("nameserver "+nameserver+"\n"), 0o644)
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

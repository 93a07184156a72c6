//go:build linux

package guest

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/egress/inside"
	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// Inside is what a Service gets to know and to use.
type Inside struct {
	Config *boot.Config
	// Launcher starts every process of the sandbox.
	Launcher daemon.Launcher
	// Users are the accounts inside.
	Users daemon.UserDB
	// Env are the variables that every process gets.
	Env map[string]string
	// OOMKills counts what the system killed for want of memory; nil when nobody knows.
	OOMKills func() int64
}

// process1 is the state of process 1.
type process1 struct {
	// self is where this binary is executed from inside: a read-only mount, so
	// that nobody can write to it through /proc/PID/exe.
	self    string
	control *net.UnixConn
	// staged is set when the part of the root that is alike in all sandboxes stands.
	staged   bool
	cfg      *boot.Config
	trees    trees
	thread   *thread
	conns    *handedListener
	ports    ports
	warmer   Warmer
	userSide *userSide
	users    daemon.UserDB
	victims  *victims
	launcher daemon.Launcher
	// networkEnv are variables that programs need to reach the network.
	networkEnv []string
	relay      *inside.Relay
}

// boot brings the process from a fresh clone to answering HTTP.
func (p *process1) boot(s Service) error {
	// The network takes about as long as the mounts and needs none of them.
	network := make(chan error, 1)
	go func() { network <- p.setupNetwork() }()
	err := steps(
		namedStep{"hostname", func() error { return unix.Sethostname([]byte(p.cfg.Hostname)) }},
		namedStep{"rlimits", func() error { return setRlimits(p.cfg.Rlimits) }},
		namedStep{"mounts", p.buildRoot},
		namedStep{"network", func() error { return <-network }},
		namedStep{"resolver", p.startRelay},
		namedStep{"user side", p.startUserSide},
		namedStep{"privileges", p.confine},
		namedStep{"service", func() error { return p.serve(s) }},
	)
	if err != nil {
		return err
	}
	return boot.Send(p.control, boot.Message{Op: boot.OpReady})
}

// headerTimeout bounds a client that connects and says nothing.
const headerTimeout = 30 * time.Second

func (p *process1) serve(s Service) error {
	p.users = accounts(p.cfg.Ordinary)
	p.launcher = p.newLauncher()
	if err := p.listenSudo(); err != nil {
		return fmt.Errorf("sudo: %w", err)
	}
	// Programs are looked up in this PATH when a command names none.
	if err := os.Setenv("PATH", Path); err != nil {
		return err
	}
	h, err := s(Inside{Config: p.cfg, Launcher: p.launcher, Users: p.users, Env: p.environment(), OOMKills: p.oomKills()})
	if err != nil {
		return err
	}
	p.conns = serveHanded(h)
	p.ports.service, _ = h.(Ports)
	p.warmer, _ = h.(Warmer)
	return nil
}

// serveHanded serves connections that are handed over.
func serveHanded(h http.Handler) *handedListener {
	l := newHandedListener()
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout}
	go srv.Serve(l) //nolint:errcheck // ends with the process
	return l
}

// serveControl takes what the host side hands over until it goes away.
func (p *process1) serveControl() {
	for {
		m, files, err := boot.Receive(p.control)
		if err != nil {
			os.Exit(0)
		}
		p.handle(m, files)
	}
}

func (p *process1) handle(m boot.Message, files []*os.File) {
	if m.Op == boot.OpClaim && len(files) == 2 {
		p.takeClaim(files[0], files[1])
		return
	}
	if len(files) != 1 {
		for _, f := range files {
			_ = f.Close()
		}
		return
	}
	switch m.Op {
	case boot.OpWarm:
		go p.warm(files[0])
	case boot.OpConn:
		p.conns.hand(files[0])
	case boot.OpPort:
		go p.answerPort(files[0], m.Port)
	default:
		_ = files[0].Close()
	}
}

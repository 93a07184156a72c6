// Package daemon is the envd-compatible service inside a sandbox: processes,
// files and watches over Connect and HTTP (e2b.md 3), as one http.Handler.
//
// It runs as pid 1's service in a sandbox and equally in an ordinary process:
// what differs (how a process is started, who the users are, what the machine
// uses) comes in through Options.
package daemon

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Version is the envd version whose behaviour the daemon has and which it
// reports (e2b.md 3.6: at least 0.6.4 opens every path of the SDKs).
const Version = "0.6.13"

// closeGrace bounds how long Close waits for the last goroutines.
const closeGrace = 2 * time.Second

// Options configure a Daemon. The zero value serves without a token, as the
// user "user" of /etc/passwd, with processes started directly.
type Options struct {
	// SandboxID and TemplateID become E2B_SANDBOX_ID and E2B_TEMPLATE_ID.
	SandboxID, TemplateID string
	// Token is the X-Access-Token that requests must carry; empty leaves all open.
	Token string
	// Envs are the default variables of every command; copied.
	Envs map[string]string
	// DefaultUser serves requests that name none; empty means "user".
	DefaultUser string
	// DefaultWorkdir is the directory of commands and empty paths; empty means home.
	DefaultWorkdir string
	// Users knows the accounts; nil reads /etc/passwd and /etc/group.
	Users UserDB
	// Launcher starts processes; nil is Direct{}.
	Launcher Launcher
	// Usage reports what the sandbox uses; nil reads /proc and the root file system.
	Usage func() (Usage, error)
	// OOMKills counts the processes that the system killed for want of memory; nil
	// when nobody knows.
	OOMKills func() int64
	// Log receives what no client can be told; nil discards it.
	Log *slog.Logger
}

// Daemon is one sandbox's daemon. Make it with New, end it with Close.
type Daemon struct {
	users    UserDB
	launcher Launcher
	usage    func() (Usage, error)
	oomKills func() int64
	log      *slog.Logger
	defaults *defaults
	commands *table
	watchers *watcherSet
	buffers  bufferPool
	handler  http.Handler
	// silence is outputSilence, but in tests.
	silence time.Duration
	closed  chan struct{}
	mu      sync.Mutex
	closing bool
	work    sync.WaitGroup
}

// New makes a daemon. It starts nothing and touches no file.
func New(o Options) *Daemon {
	d := &Daemon{
		users:    o.Users,
		launcher: o.Launcher,
		usage:    o.Usage,
		oomKills: o.OOMKills,
		log:      o.Log,
		defaults: newDefaults(o),
		commands: newTable(),
		watchers: newWatcherSet(),
		silence:  outputSilence,
		closed:   make(chan struct{}),
	}
	if d.users == nil {
		d.users = NewPasswdDB("/etc/passwd", "/etc/group")
	}
	if d.launcher == nil {
		d.launcher = Direct{}
	}
	if d.usage == nil {
		d.usage = newMeter().usage
	}
	if d.oomKills == nil {
		d.oomKills = func() int64 { return 0 }
	}
	if d.log == nil {
		d.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	d.handler = allowOrigins(d.authorize(d.routes()))
	return d
}

// Handler serves everything. It may be used by several servers at once.
func (d *Daemon) Handler() http.Handler { return d.handler }

// errStopping refuses work to a daemon that has been closed.
var errStopping = errors.New("the sandbox is stopping")

// enter counts one piece of work that Close waits for, to be ended by
// d.work.Done. After Close it returns false.
func (d *Daemon) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return false
	}
	d.work.Add(1)
	return true
}

// Close kills every command with its session, ends every watch and waits a
// moment for the goroutines that belong to them. Calling it again does nothing.
func (d *Daemon) Close() {
	d.mu.Lock()
	again := d.closing
	d.closing = true
	d.mu.Unlock()
	if again {
		return
	}
	close(d.closed)
	d.commands.killAll()
	d.watchers.closeAll()
	done := make(chan struct{})
	go func() {
		d.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeGrace):
		d.log.Warn("daemon closed before its last command ended")
	}
}

package interpreter

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/interpreter/jupyter"
	"github.com/agent-sandbox/agent-sandbox/local/interpreter/kernelspec"
)

// kernel is one running kernel.
type kernel struct {
	spec kernelspec.Spec
	// env are the variables that it was started with, or given later.
	env     map[string]string
	session *jupyter.Session
	at      *jupyter.Endpoints
	dir     string
	process daemon.Process
	stderr  tail
	// kills counts those for want of memory, killsBefore is how many there were
	// when it was last asked something; mu guards that.
	kills       *memoryKills
	killsBefore int64
	// told is closed at the end of its stderr.
	told chan struct{}
	// shell and iopub are connected once the kernel is ready.
	shell, iopub *jupyter.Channel
	// control is connected when it is needed; telling guards it.
	control *jupyter.Channel
	telling sync.Mutex

	mu sync.Mutex
	// asked is the request under way, nil = none.
	asked *asking
	// cause is why the kernel was ended, nil when it ended by itself.
	cause error

	// inbox holds what was read of iopub, touched is when something of it was
	// last passed on; more is set while a part of the next message is here.
	inbox   *inbox
	touched atomic.Int64
	more    atomic.Bool

	// exited is closed when the process has ended, dead when also everything
	// that it had sent was read; status and death are set before.
	exited, dead chan struct{}
	status       syscall.WaitStatus
	death        error
	// killed tells who killed it, once exited is closed.
	killed memoryKill
}

// asking is one request with what has come of it.
type asking struct {
	id string
	// output gets what is published about it, more = there is more to read
	// already; nil drops it.
	output func(m *jupyter.Message, more bool)
	// begun is closed when the kernel has begun, idle when it has ended, replied
	// when it has answered with reply.
	begun, idle, replied chan struct{}
	reply                *jupyter.Message
	// valued is set when a value or an error was published.
	valued atomic.Bool
}

func newAsking(output func(*jupyter.Message, bool)) *asking {
	return &asking{output: output, begun: make(chan struct{}), idle: make(chan struct{}), replied: make(chan struct{})}
}

// launch starts the process of a kernel; it is not ready yet.
func (w *workshop) launch(spec kernelspec.Spec, cwd string) (*kernel, error) {
	user, err := w.user()
	if err != nil {
		return nil, err
	}
	dir, err := w.directory(user)
	if err != nil {
		return nil, err
	}
	k := &kernel{spec: spec, session: jupyter.NewSession(), dir: dir, exited: make(chan struct{}), dead: make(chan struct{}), kills: w.kills}
	k.killsBefore = k.kills.sofar()
	k.inbox = newInbox(inboxDrops)
	if waits(spec) {
		k.inbox = newInbox(inboxWaits)
	}
	if err := w.spawn(k, user, cwd); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	go k.wait()
	return k, nil
}

func (w *workshop) spawn(k *kernel, user daemon.User, cwd string) error {
	var err error
	k.at = jupyter.Sockets(filepath.Join(k.dir, "k"))
	if !k.spec.IsPython() {
		// Most kernels that are not Python's know TCP only.
		if k.at, err = jupyter.Ports(); err != nil {
			return err
		}
	}
	file, err := k.session.ConnectionFile(k.at, k.spec.Name)
	if err != nil {
		return err
	}
	path := filepath.Join(k.dir, "connection.json")
	if err := w.write(path, file, user); err != nil {
		return err
	}
	k.env = w.kernelEnvironment(user, k.spec)
	l := &daemon.Launch{Args: k.spec.Command(path), Dir: cwd, User: user}
	if wrapped(k.spec) {
		config := filepath.Join(k.dir, "config.py")
		if err := w.write(config, wrapperConfig, user); err != nil {
			return err
		}
		l.Args = append(l.Args, "--config="+config)
	}
	for name, value := range k.env {
		l.Env = append(l.Env, name+"="+value)
	}
	if l.Path, err = program(l.Args[0], k.env["PATH"], cwd); err != nil {
		return err
	}
	return k.exec(w, l)
}

// exec starts the process with its stderr kept and everything else closed.
func (k *kernel) exec(w *workshop, l *daemon.Launch) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer write.Close()
	l.Stdin, l.Stdout, l.Stderr = null, null, write
	if k.process, err = w.options.Launcher.Launch(l); err != nil {
		_ = read.Close()
		return err
	}
	k.told = make(chan struct{})
	go func() {
		defer close(k.told)
		defer read.Close()
		_, _ = io.Copy(&k.stderr, read)
	}()
	return nil
}

// wait collects the process.
func (k *kernel) wait() {
	k.status = k.process.Wait()
	// What it leaves behind in its session ends with it.
	daemon.KillSession(k.process.Pid())
	_ = os.RemoveAll(k.dir)
	k.killed = k.killer()
	select {
	case <-k.told:
	case <-time.After(toldGrace):
	}
	close(k.exited)
}

// toldGrace is how long the last words of a kernel may take: a process that it
// left in another session may hold the pipe for ever.
const toldGrace = 200 * time.Millisecond

// startLimit bounds how long a kernel may take to answer.
const startLimit = 60 * time.Second

var errSlowStart = errors.New("the kernel did not answer within a minute")

// connect waits until the kernel answers.
func (k *kernel) connect() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), startLimit, errSlowStart)
	defer cancel()
	go func() {
		select {
		case <-k.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	var err error
	if k.iopub, err = k.dial(ctx, k.at.IOPub()); err == nil {
		k.shell, err = k.dial(ctx, k.at.Shell())
	}
	if err == nil {
		go k.listen()
		go k.letGo()
		go k.replies()
		err = k.greet(ctx)
	}
	if err != nil {
		k.end(err)
		<-k.exited
		k.finish()
		return k.startError(ctx, err)
	}
	return nil
}

// startError says why a kernel did not start.
func (k *kernel) startError(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSlowStart) {
		err = errSlowStart
	} else if !k.status.Signaled() || k.status.Signal() != syscall.SIGKILL {
		err = died(k.status, k.stderr.String(), k.killed)
	}
	return err
}

// dialPause is how often a socket is tried that is not there yet: a kernel
// takes a quarter of a second to make it.
const dialPause = 3 * time.Millisecond

func (k *kernel) dial(ctx context.Context, at jupyter.Endpoint) (*jupyter.Channel, error) {
	for {
		c, err := k.session.Dial(ctx, at)
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(dialPause):
		}
	}
}

// greetPause is how long after an answer the kernel's own account of it may
// come: it is lost when the subscription came too late.
const greetPause = 100 * time.Millisecond

// greet asks what the kernel is until both its answer and what it publishes arrive.
func (k *kernel) greet(ctx context.Context) error {
	for {
		a, err := k.ask("kernel_info_request", struct{}{}, nil)
		if err != nil {
			return err
		}
		select {
		case <-a.replied:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-a.idle:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(greetPause):
		}
	}
}

// ask sends a request; there may be one at a time.
func (k *kernel) ask(kind string, content any, output func(*jupyter.Message, bool)) (*asking, error) {
	r, err := k.session.Request(kind, content)
	if err != nil {
		return nil, err
	}
	a := newAsking(output)
	a.id = r.ID
	k.mu.Lock()
	k.asked, k.killsBefore = a, k.kills.sofar()
	k.mu.Unlock()
	return a, k.shell.Send(r)
}

// about is the request under way if it has this id, else nil: what is left of
// an earlier one, as the output of its threads, belongs to nobody.
func (k *kernel) about(id string) *asking {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked != nil && k.asked.id == id {
		return k.asked
	}
	return nil
}

// listen reads what the kernel publishes until it has ended.
func (k *kernel) listen() {
	go k.passOn()
	defer k.inbox.close()
	for {
		m, err := k.iopub.Receive()
		if err != nil {
			k.cutOff()
			return
		}
		k.more.Store(k.iopub.More())
		k.inbox.put(m)
	}
}

// leftGrace is how long nothing must have come from a kernel that is gone.
const leftGrace = 500 * time.Millisecond

// letGo ends the reading of a kernel that is gone: a process that it forked, and
// that left its session, may hold the connection for ever. What is still to be read
// comes first.
func (k *kernel) letGo() {
	<-k.exited
	for {
		select {
		case <-k.dead:
			return
		case <-time.After(leftGrace):
		}
		if !k.inbox.busy() && time.Since(time.Unix(0, k.touched.Load())) > leftGrace {
			_ = k.iopub.Close()
			return
		}
	}
}

// passOn gives what was read to whom it is about.
func (k *kernel) passOn() {
	defer k.finish()
	for {
		m, more, ok := k.inbox.take()
		if !ok {
			return
		}
		if a := k.about(m.Parent); a != nil {
			a.take(m, more || k.more.Load())
		}
		k.touched.Store(time.Now().UnixNano())
	}
}

// cutGrace is how long a kernel whose connection has ended may take to end itself.
const cutGrace = time.Second

var errCutOff error = &deathError{reason: "the kernel closed its connections"}

// cutOff ends a kernel that can say nothing any more.
func (k *kernel) cutOff() {
	select {
	case <-k.exited:
	case <-time.After(cutGrace):
		k.end(errCutOff)
		<-k.exited
	}
}

func (a *asking) take(m *jupyter.Message, more bool) {
	if m.Type != "status" {
		if m.Type == "execute_input" {
			closeOnce(a.begun)
		}
		if a.output != nil {
			a.output(m, more)
		}
		if m.Type == "execute_result" || m.Type == "error" {
			a.valued.Store(true)
		}
		return
	}
	var state struct {
		Now string `json:"execution_state"`
	}
	if m.Decode(&state) == nil && state.Now == "idle" {
		closeOnce(a.idle)
	}
}

// closeOnce closes a channel that one goroutine alone closes.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// replies reads the kernel's answers until it has ended.
func (k *kernel) replies() {
	for {
		m, err := k.shell.Receive()
		if err != nil {
			return
		}
		if a := k.about(m.Parent); a != nil && a.reply == nil {
			a.reply = m
			close(a.replied)
		}
	}
}

// finish tells everybody that the kernel is gone. It may be called twice.
func (k *kernel) finish() {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.dead:
		return
	default:
	}
	k.death = k.cause
	if k.death == nil {
		k.death = died(k.status, k.stderr.String(), k.killed)
	}
	for _, c := range []*jupyter.Channel{k.shell, k.iopub} {
		if c != nil {
			_ = c.Close()
		}
	}
	close(k.dead)
	go k.hangUp()
}

// alive reports whether the kernel may be asked.
func (k *kernel) alive() bool {
	select {
	case <-k.exited:
		return false
	default:
		return true
	}
}

// end kills the kernel with all of its session, for a reason that its present
// request is told. The kernel is gone when dead is closed.
func (k *kernel) end(cause error) {
	k.mu.Lock()
	if k.cause == nil {
		k.cause = cause
	}
	k.mu.Unlock()
	select {
	case <-k.exited:
	default:
		daemon.KillSession(k.process.Pid())
	}
}

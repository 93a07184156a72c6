package interpreter

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/interpreter/jupyter"
)

// session is one context: a language, a directory, and a kernel from its first
// use on.
type session struct {
	id, language, cwd string
	workshop          *workshop
	// removed is closed when the context is.
	removed chan struct{}

	// starting is held while a kernel is made, so that it is made once.
	starting sync.Mutex

	mu     sync.Mutex
	kernel *kernel
	// replaced is why the kernel before this one died, until a client was told.
	replaced error
	// queue are the executions in order; the first one has its turn.
	queue []*execution
	gone  bool
}

func (w *workshop) newSession(language, cwd string) *session {
	return &session{
		id: newID(), language: language, cwd: cwd, workshop: w, removed: make(chan struct{}),
	}
}

// ready gives the kernel, after starting it if there is none.
func (s *session) ready() (*kernel, error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	if k, err := s.existing(); k != nil || err != nil {
		return k, err
	}
	k, err := s.make()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.kernel = k
	gone := s.gone
	s.mu.Unlock()
	if gone {
		k.shutdown(errRemoved, false)
		return nil, errRemoved
	}
	return k, nil
}

// existing is the kernel if it lives. One that died is noted and forgotten.
func (s *session) existing() (*kernel, error) {
	s.mu.Lock()
	k, gone := s.kernel, s.gone
	s.mu.Unlock()
	switch {
	case gone:
		return nil, errRemoved
	case k == nil || k.alive():
		return k, nil
	}
	<-k.dead
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kernel = nil
	if !errors.Is(k.death, errRestarting) {
		s.replaced = k.death
	}
	return nil, nil
}

// startAttempts is how often a kernel is started: another process may take a
// port between its choice and its use.
const startAttempts = 2

func (s *session) make() (k *kernel, err error) {
	spec, err := s.workshop.find(s.language)
	if err != nil {
		return nil, err
	}
	for range startAttempts {
		if k, err = s.workshop.launch(spec, s.cwd); err != nil {
			return nil, err
		}
		if err = k.connect(); err == nil {
			return k, s.prepare(k)
		}
		if spec.IsPython() {
			break
		}
	}
	return nil, err
}

// prepare makes a new kernel what clients expect.
func (s *session) prepare(k *kernel) error {
	code := prelude(k.spec)
	if code == "" {
		return nil
	}
	if err := k.hidden(code); err != nil {
		if !k.alive() {
			return err
		}
		s.workshop.options.Log.Warn("kernel prelude failed", "kernel", k.spec.Name, "error", err)
	}
	return nil
}

// enter gives an execution its place in the queue.
func (s *session) enter(x *execution) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return errRemoved
	}
	s.queue = append(s.queue, x)
	if len(s.queue) == 1 {
		close(x.turn)
	}
	return nil
}

// leave ends an execution that entered, and gives the next one its turn.
func (s *session) leave(x *execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.queue[0] == x
	s.queue = slices.DeleteFunc(s.queue, func(other *execution) bool { return other == x })
	if first && len(s.queue) > 0 {
		close(s.queue[0].turn)
	}
	close(x.done)
}

// find is the execution with this id, or the one whose turn it is (""). waits
// says that it is another one's turn.
func (s *session) find(id string) (x *execution, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, each := range s.queue {
		if id == "" || each.id == id {
			return each, i > 0
		}
	}
	return nil, false
}

// execute runs x when its turn has come, and ends its stream.
func (s *session) execute(x *execution) {
	defer s.leave(x)
	select {
	case <-x.turn:
	case <-x.stop:
	case <-s.removed:
		x.died(errRemoved, s.language)
		x.out.finish()
		return
	}
	if x.stopped() {
		x.neverBegan()
		return
	}
	k, err := s.ready()
	switch {
	case err != nil:
		s.failedStart(x, err)
		x.out.finish()
	case x.stopped():
		x.neverBegan()
	default:
		s.tellReplaced(x)
		s.run(k, x)
	}
}

func (s *session) failedStart(x *execution, err error) {
	var death *deathError
	switch {
	case errors.Is(err, errRemoved):
		x.died(err, s.language)
	case errors.As(err, &death):
		x.fail("KernelStartError", "the "+s.language+" kernel did not start: "+death.reason, death.said)
	default:
		x.fail("KernelStartError", "the "+s.language+" kernel did not start: "+err.Error(), "")
	}
}

// tellReplaced says that variables are gone.
func (s *session) tellReplaced(x *execution) {
	s.mu.Lock()
	why := s.replaced
	s.replaced = nil
	s.mu.Unlock()
	if why == nil {
		return
	}
	text := asciiText(nil, "This is a new "+s.language+" kernel, without the variables of the last one: "+why.Error()+"\n")
	x.out.write(streamLine("stderr", text, time.Now().UTC().Format(time.RFC3339Nano)), true)
}

// run runs x in k, in its own variables.
func (s *session) run(k *kernel, x *execution) {
	set, restore := environmentCode(s.language, x.envs)
	if set != "" {
		if err := k.hidden(set); err != nil && k.alive() {
			x.fail("EnvironmentError", "the variables of the call could not be set: "+err.Error(), "")
			x.out.finish()
			return
		}
	}
	err := s.cell(k, x)
	x.out.finish()
	if err == nil && restore != "" {
		if err := k.hidden(restore); err != nil && k.alive() {
			s.workshop.options.Log.Warn("variables of a call not restored", "error", err)
		}
	}
}

// cell runs the code of x, and interrupts it when x is stopped.
func (s *session) cell(k *kernel, x *execution) error {
	a, err := k.start(x.code, func(m *jupyter.Message, more bool) { x.take(m, more) })
	if err == nil {
		over := make(chan struct{})
		go k.interruptAt(x.stop, over, a)
		err = k.settle(a)
		close(over)
	} else {
		// The kernel is on its way out: its end says why.
		k.cutOff()
		<-k.dead
		err = k.death
	}
	if err != nil {
		x.died(err, s.language)
		return err
	}
	select {
	case <-a.replied:
		x.answered(a.reply)
		if leaving(a.reply) {
			k.depart()
		}
	default:
		if k.spec.IsPython() {
			// It answers always, unless the code broke the kernel itself.
			x.fail("KernelBroken", "the kernel did not answer, so the code may not have run: restart the context", "")
		}
	}
	return nil
}

// Pauses of an interrupt.
const (
	// beginGrace is how long an interrupt waits for the kernel to begin: before
	// that it would be lost.
	beginGrace = time.Second
	// insistPause is when it is repeated.
	insistPause = time.Second
	// stuckLimit is when a kernel that does not stop is killed.
	stuckLimit = 30 * time.Second
	// stuckLimitDeno is that of Deno, which stops a loop at once, and what it
	// awaits never.
	stuckLimitDeno = 1500 * time.Millisecond
)

// interruptAt interrupts the request from stop on until it is over.
func (k *kernel) interruptAt(stop, over <-chan struct{}, a *asking) {
	select {
	case <-stop:
	case <-over:
		return
	}
	select {
	case <-a.begun:
	case <-over:
		return
	case <-time.After(beginGrace):
	}
	limit := time.After(stuckLimit)
	if k.spec.IsDeno() {
		limit = time.After(stuckLimitDeno)
	}
	for {
		k.interrupt(a)
		select {
		case <-over:
			return
		case <-limit:
			k.end(errStuck)
			return
		case <-time.After(insistPause):
		}
	}
}

// restart ends the kernel, with what it runs, and starts a new one.
func (s *session) restart() error {
	s.mu.Lock()
	k := s.kernel
	s.mu.Unlock()
	if k != nil {
		k.shutdown(errRestarting, true)
	}
	s.mu.Lock()
	s.replaced = nil
	s.mu.Unlock()
	_, err := s.ready()
	return err
}

// remove ends the context with everything in it.
func (s *session) remove(cause error) {
	s.mu.Lock()
	again := s.gone
	s.gone = true
	k := s.kernel
	s.mu.Unlock()
	if !again {
		close(s.removed)
	}
	if k != nil {
		k.shutdown(cause, false)
	}
}

// interruptLimit is how long an interrupt waits for its effect.
const interruptLimit = 2 * time.Second

// interruption says what an interrupt did.
type interruption struct {
	// Interrupted: there was such an execution.
	Interrupted bool `json:"interrupted"`
	// Busy: it has not stopped yet.
	Busy bool `json:"busy"`
	// Waited: another one had the turn, and has it still; this one never begins.
	Waited bool `json:"waited,omitempty"`
}

// interrupt stops the execution with this id, or the one that runs ("").
func (s *session) interrupt(id string) interruption {
	x, waits := s.find(id)
	if x == nil {
		return interruption{}
	}
	x.interrupt()
	select {
	case <-x.done:
		return interruption{Interrupted: true, Waited: waits}
	case <-time.After(interruptLimit):
		return interruption{Interrupted: true, Busy: true}
	}
}

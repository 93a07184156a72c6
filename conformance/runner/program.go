package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Program is a driver in another language: one process for all sessions, which
// reads lines of JSON on stdin and writes them on stdout. Its stderr is ours.
//
//	to it:   {"session": 1, "open": SETUP}
//	         {"session": 1, "call": 2, "name": "files.read", "params": {}}
//	         {"session": 1, "cancel": 2}
//	         {"session": 1, "close": true}
//	from it: {"session": 1, "opened": true}
//	         {"session": 1, "event": 2, "kind": "stdout", "value": "eA=="}
//	         {"session": 1, "result": 2, "value": {}}      or "failure" instead of "value"
//	         {"session": 1, "closed": true}
type Program struct {
	name  string
	page  bool
	cmd   *exec.Cmd
	stdin io.WriteCloser
	over  chan struct{} // it has ended

	// writing is apart from mu: a program that does not read for a moment holds up
	// who writes to it, and must not hold up who reads from it.
	writing sync.Mutex

	mu       sync.Mutex
	last     int
	sessions map[int]*programSession
}

// Start says how to start a program.
type Start struct {
	Name    string
	Command []string
	Dir     string   // in which it runs; "" = ours
	Env     []string // NAME=value, over our own
	Page    bool     // its requests are made by a browser
}

// StartProgram starts a driver. Close it when done.
func StartProgram(s Start) (*Program, error) {
	p := &Program{
		name: s.Name, page: s.Page, cmd: exec.Command(s.Command[0], s.Command[1:]...), //nolint:gosec // the caller's own
		over: make(chan struct{}), sessions: map[int]*programSession{},
	}
	p.cmd.Stderr, p.cmd.Dir = os.Stderr, s.Dir
	p.cmd.Env = append(os.Environ(), s.Env...)
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(stdout)
	return p, nil
}

// InPage tells whether a browser makes the program's requests.
func (p *Program) InPage() bool { return p.page }

// Name is the driver's name.
func (p *Program) Name() string { return p.name }

// farewell is how long a program may take to end.
const farewell = 15 * time.Second

// Close ends the program: its stdin ends, and then it must.
func (p *Program) Close() error {
	err := p.stdin.Close()
	select {
	case <-p.over:
	case <-time.After(farewell):
		err = errors.Join(err, p.cmd.Process.Kill(), fmt.Errorf("the driver %s does not end", p.name))
		<-p.over
	}
	return errors.Join(err, p.cmd.Wait())
}

// line is one message in either direction.
type line struct {
	Session int             `json:"session"`
	Open    *Setup          `json:"open,omitempty"`
	Call    int             `json:"call,omitempty"`
	Name    string          `json:"name,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Cancel  int             `json:"cancel,omitempty"`
	Close   bool            `json:"close,omitempty"`

	Opened  bool     `json:"opened,omitempty"`
	Event   int      `json:"event,omitempty"`
	Kind    string   `json:"kind,omitempty"`
	Result  int      `json:"result,omitempty"`
	Value   any      `json:"value,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	Closed  bool     `json:"closed,omitempty"`
}

func (p *Program) send(l line) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err = p.stdin.Write(append(b, '\n'))
	return err
}

func (p *Program) read(stdout io.Reader) {
	defer close(p.over)
	for r := bufio.NewReader(stdout); ; {
		b, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var l line
		if err := json.Unmarshal(b, &l); err != nil {
			_, _ = fmt.Fprintf(os.Stderr, "%s: this is no message: %.200s\n", p.name, b)
			continue
		}
		p.mu.Lock()
		s := p.sessions[l.Session]
		p.mu.Unlock()
		if s != nil {
			s.take(l)
		}
	}
}

type programSession struct {
	p  *Program
	id int

	mu    sync.Mutex
	last  int
	calls map[int]*programCall
	ready chan struct{} // opened, and then closed
}

type programCall struct {
	emit func(string, any)
	done chan line
}

// Open begins a session.
func (p *Program) Open(setup Setup) (Session, error) {
	p.mu.Lock()
	p.last++
	s := &programSession{p: p, id: p.last, calls: map[int]*programCall{}, ready: make(chan struct{}, 1)}
	p.sessions[s.id] = s
	p.mu.Unlock()
	if err := p.send(line{Session: s.id, Open: &setup}); err != nil {
		return nil, err
	}
	return s, s.wait()
}

func (s *programSession) wait() error {
	select {
	case <-s.ready:
		return nil
	case <-s.p.over:
		return fmt.Errorf("the driver %s has ended", s.p.name)
	case <-time.After(silence):
		return fmt.Errorf("the driver %s does not answer", s.p.name)
	}
}

// silence is how long a program may owe an answer.
const silence = 15 * time.Second

func (s *programSession) take(l line) {
	if l.Opened || l.Closed {
		s.ready <- struct{}{}
		return
	}
	s.mu.Lock()
	c := s.calls[l.Event+l.Result]
	s.mu.Unlock()
	switch {
	case c == nil:
	case l.Event != 0:
		c.emit(l.Kind, l.Value)
	default:
		c.done <- l
	}
}

// Call makes one call. Callbacks may come after it has returned: a process that
// was started goes on.
func (s *programSession) Call(ctx context.Context, name string, params json.RawMessage, emit func(string, any)) (any, *Failure) {
	c := &programCall{emit: emit, done: make(chan line, 1)}
	s.mu.Lock()
	s.last++
	id := s.last
	s.calls[id] = c
	s.mu.Unlock()
	late := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		_ = s.p.send(line{Session: s.id, Cancel: id})
		time.AfterFunc(silence, func() { close(late) })
	})()
	if err := s.p.send(line{Session: s.id, Call: id, Name: name, Params: params}); err != nil {
		return nil, &Failure{Texts: []string{err.Error()}}
	}
	select {
	case l := <-c.done:
		return l.Value, l.Failure
	case <-s.p.over:
		return nil, &Failure{Texts: []string{"the driver " + s.p.name + " has ended"}}
	case <-late:
		return nil, &Failure{Texts: []string{"the driver " + s.p.name + " does not end a call that was cancelled"}}
	}
}

// Close ends the session.
func (s *programSession) Close() error {
	defer func() {
		s.p.mu.Lock()
		defer s.p.mu.Unlock()
		delete(s.p.sessions, s.id)
	}()
	if err := s.p.send(line{Session: s.id, Close: true}); err != nil {
		return err
	}
	return s.wait()
}

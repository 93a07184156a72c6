package interpreter

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/interpreter/jupyter"
)

// executeRequest is the content of an execute_request. Code is JSON text,
// passed on as the client wrote it.
type executeRequest struct {
	Code            json.RawMessage   `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    bool              `json:"store_history"`
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      bool              `json:"allow_stdin"`
	StopOnError     bool              `json:"stop_on_error"`
}

// start begins to run a cell.
func (k *kernel) start(code json.RawMessage, output func(*jupyter.Message, bool)) (*asking, error) {
	return k.ask("execute_request", executeRequest{
		Code: code, StoreHistory: true, UserExpressions: map[string]string{},
	}, output)
}

// hidden runs code that leaves no trace in the history.
func (k *kernel) hidden(code string) error {
	text, err := json.Marshal(code)
	if err != nil {
		return err
	}
	a, err := k.ask("execute_request", executeRequest{
		Code: text, Silent: true, UserExpressions: map[string]string{},
	}, nil)
	if err != nil {
		return err
	}
	if err := k.settle(a); err != nil {
		return err
	}
	if a.reply == nil {
		return nil
	}
	var answer reply
	if err := a.reply.Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "ok" {
		return errors.New(answer.Name + ": " + answer.Value)
	}
	return nil
}

// Limits of what a kernel may leave out after a cell.
const (
	// replyGrace is how much later than the end of the output the answer may come.
	replyGrace = time.Second
	// idleGrace is how long after the answer a kernel may be silent before its
	// word that it is idle counts as lost.
	idleGrace = 10 * time.Second
)

// Times for what a kernel publishes after it said that it is idle: Deno's does
// so with the value of one cell in ten.
const (
	// lateValue is how long a value is waited for, where there was none.
	lateValue = 30 * time.Millisecond
	// lateRest is how long after all else, and after each thing that was late.
	lateRest = 5 * time.Millisecond
	// lateStep is how often it is looked for.
	lateStep = time.Millisecond
)

// linger waits for what comes late. Python's kernels are never late.
func (k *kernel) linger(a *asking) {
	if k.spec.IsPython() || a.output == nil {
		return
	}
	for began := time.Now(); k.alive(); time.Sleep(lateStep) {
		switch quiet := time.Since(time.Unix(0, k.touched.Load())); {
		case k.inbox.busy():
		case a.valued.Load() && quiet > lateRest, time.Since(began) > lateValue && quiet > lateRest:
			return
		}
	}
}

// settle waits until all of a request has arrived; then nothing more is passed on.
func (k *kernel) settle(a *asking) error {
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.asked = nil
	}()
	replied := a.replied
	for {
		select {
		case <-a.idle:
			select {
			case <-a.replied:
			case <-k.dead:
			case <-time.After(replyGrace):
			}
			k.linger(a)
			return nil
		case <-k.dead:
			return k.death
		case <-replied:
			replied = nil
		case <-after(replied == nil, time.Second):
			if !k.inbox.busy() && time.Since(time.Unix(0, k.touched.Load())) > idleGrace {
				return nil
			}
		}
	}
}

// after is time.After when wanted, else never.
func after(wanted bool, d time.Duration) <-chan time.Time {
	if !wanted {
		return nil
	}
	return time.After(d)
}

// interrupt asks the kernel to stop a request, unless that has ended meanwhile:
// the next one would be hit.
func (k *kernel) interrupt(a *asking) {
	if k.spec.ByMessage {
		if k.about(a.id) != nil {
			k.tell("interrupt_request", struct{}{})
		}
		return
	}
	k.mu.Lock()
	present := k.asked == a
	if present {
		_ = syscall.Kill(-k.process.Pid(), syscall.SIGINT)
	}
	k.mu.Unlock()
	if present && k.spec.IsPython() {
		time.Sleep(nudgePause)
		k.nudge()
	}
}

// nudgePause is how long after a signal the kernel is nudged.
const nudgePause = 20 * time.Millisecond

// nudge wakes the event loop of a Python kernel: ipykernel notes an interrupt of
// a cell that awaits, and acts on it when something else happens.
func (k *kernel) nudge() {
	if r, err := k.session.Request("comm_info_request", struct{}{}); err == nil {
		_ = k.shell.Send(r)
	}
}

// tellLimit bounds a request to a kernel that may not listen.
const tellLimit = time.Second

// tell sends a request over the control channel and waits for no answer.
func (k *kernel) tell(kind string, content any) {
	ctx, cancel := context.WithTimeout(context.Background(), tellLimit)
	defer cancel()
	k.telling.Lock()
	defer k.telling.Unlock()
	if k.control == nil {
		c, err := k.session.Dial(ctx, k.at.Control())
		if err != nil {
			return
		}
		k.control = c
	}
	if r, err := k.session.Request(kind, content); err == nil {
		_ = k.control.Send(r)
	}
}

// hangUp closes the control channel.
func (k *kernel) hangUp() {
	k.telling.Lock()
	defer k.telling.Unlock()
	if k.control != nil {
		_ = k.control.Close()
	}
}

// shutdownGrace is how long a kernel may take to end by itself.
const shutdownGrace = 500 * time.Millisecond

// shutdown lets the kernel end by itself, with what it has to do at its exit,
// and kills it when it does not. It is gone when this returns.
func (k *kernel) shutdown(cause error, restart bool) {
	k.mu.Lock()
	if k.cause == nil {
		k.cause = cause
	}
	k.mu.Unlock()
	if k.alive() {
		k.tell("shutdown_request", struct {
			Restart bool `json:"restart"`
		}{restart})
		select {
		case <-k.exited:
		case <-time.After(shutdownGrace):
		}
	}
	k.end(cause)
	<-k.dead
}

// reply is the content of an execute_reply.
type reply struct {
	Status    string   `json:"status"`
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
	// Payload are what older kernels want a frontend to do.
	Payload []struct {
		Source string                     `json:"source"`
		Data   map[string]json.RawMessage `json:"data"`
	} `json:"payload"`
}

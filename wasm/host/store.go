package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// question is one question to the store, or a lock that is held.
type question struct {
	h      *Host
	k      key
	ctx    context.Context // ends when the answer, or the lock, is not wanted any more
	cancel context.CancelFunc
	verb   string
	name   string
	blob   []byte
}

// answerJSON is the JSON of STORE_RESULT.
type answerJSON struct {
	Names []string `json:"names,omitempty"`
	Error string   `json:"error,omitempty"`
}

func (h *Host) store(o *operation, k key, f frame.Frame) {
	var asked struct{ Verb, Name string }
	text, blob, err := frame.Split(f.Payload)
	if err == nil {
		err = json.Unmarshal(text, &asked)
	}
	switch {
	case err != nil:
	case asked.Verb == "unlock":
		h.stop(k)
	default:
		q := &question{h: h, k: k, verb: asked.Verb, name: asked.Name, blob: append([]byte(nil), blob...)}
		q.ctx, q.cancel = context.WithCancel(o.ctx)
		h.begun(k, q)
	}
}

func (q *question) take(frame.Frame) {}
func (q *question) stop()            { q.cancel() }

func (q *question) work() {
	defer q.cancel()
	var a answerJSON
	var blob []byte
	var err error
	s := q.h.net.Store()
	switch {
	case s == nil:
		err = errors.New("this host keeps no sessions")
	case q.verb == "get":
		blob, err = s.Get(q.ctx, q.name)
	case q.verb == "put":
		err = s.Put(q.ctx, q.name, q.blob)
	case q.verb == "delete":
		err = s.Delete(q.ctx, q.name)
	case q.verb == "list":
		a.Names, err = s.List(q.ctx)
	case q.verb == "lock":
		q.hold(s)
		return
	default:
		err = errors.New("the store has no verb " + q.verb)
	}
	q.h.finish(q.k, q, frame.StoreResult, a.with(err), blob)
}

func (a answerJSON) with(err error) []byte {
	switch {
	case errors.Is(err, transport.ErrNotStored):
		a.Error = "not_stored"
	case err != nil:
		a.Error = err.Error()
	}
	text, _ := json.Marshal(a)
	return frame.Mixed(text)
}

// hold keeps the lock until the core gives it up.
func (q *question) hold(s transport.Store) {
	unlock, err := s.Lock(q.ctx, q.name)
	if err != nil {
		q.h.finish(q.k, q, frame.StoreResult, answerJSON{}.with(err))
		return
	}
	defer unlock()
	q.h.report(q.k, q, frame.StoreResult, answerJSON{}.with(nil))
	<-q.ctx.Done()
}

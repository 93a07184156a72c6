package engine

import (
	"bytes"
	"context"
)

// store is transport.Store by frames.
type store struct{ h *host }

// storeRequest is a question that is not answered, or a lock that is held.
type storeRequest struct {
	h      *host
	scope  *scope
	id     uint32
	verb   Verb
	waiter *task
	answer *Event
	held   bool
}

func (s *store) Get(ctx context.Context, name string) ([]byte, error) {
	v, err := s.ask(ctx, StoreGet, name, nil)
	return v.Data, err
}

func (s *store) Put(ctx context.Context, name string, blob []byte) error {
	_, err := s.ask(ctx, StorePut, name, bytes.Clone(blob))
	return err
}

func (s *store) Delete(ctx context.Context, name string) error {
	_, err := s.ask(ctx, StoreDelete, name, nil)
	return err
}

func (s *store) List(ctx context.Context) ([]string, error) {
	v, err := s.ask(ctx, StoreList, "", nil)
	return v.Names, err
}

// Lock holds name until unlock, or until the work that took it ends.
func (s *store) Lock(ctx context.Context, name string) (unlock func(), err error) {
	r := s.send(StoreLock, name, nil)
	if _, err := r.wait(ctx); err != nil {
		return nil, err
	}
	r.held = true
	s.h.o.requests[r.id] = r
	return r.release, nil
}

func (s *store) ask(ctx context.Context, verb Verb, name string, blob []byte) (Event, error) {
	if ctx.Err() != nil {
		return Event{}, context.Cause(ctx)
	}
	return s.send(verb, name, blob).wait(ctx)
}

func (s *store) send(verb Verb, name string, blob []byte) *storeRequest {
	r := &storeRequest{h: s.h, scope: s.h.e.current.scope, id: s.h.o.stream(), verb: verb}
	s.h.o.requests[r.id] = r
	s.h.e.emit(Out{Op: s.h.o.id, Stream: r.id, Kind: StoreCall, Verb: verb, Name: name, Data: blob})
	return r
}

func (r *storeRequest) wait(ctx context.Context) (Event, error) {
	err := r.h.until(ctx, &r.waiter, func() bool { return r.answer != nil })
	if err != nil {
		r.release()
		return Event{}, err
	}
	delete(r.h.o.requests, r.id)
	return *r.answer, r.answer.Err
}

// release gives up a lock that is held or waited for. It is idempotent.
func (r *storeRequest) release() {
	if r.h.o.requests[r.id] != r {
		return
	}
	delete(r.h.o.requests, r.id)
	if r.verb == StoreLock {
		r.h.e.emit(Out{Op: r.h.o.id, Stream: r.id, Kind: StoreRelease})
	}
}

func (o *operation) storeEvent(v Event) {
	if r := o.requests[v.Stream]; r != nil && !r.held && r.answer == nil {
		v.Data = bytes.Clone(v.Data)
		r.answer = &v
		o.e.ready(r.waiter)
	}
}

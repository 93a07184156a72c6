package loop

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
)

// storeCall performs one question to the store, or holds one lock.
type storeCall struct {
	l      *Loop
	k      key
	ctx    context.Context // ends when the lock is given up
	cancel context.CancelCauseFunc
	asked  engine.Out
}

func newStoreCall(l *Loop, k key, asked engine.Out) *storeCall {
	c := &storeCall{l: l, k: k, asked: asked}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

func (c *storeCall) take(engine.Out) {}
func (c *storeCall) stop()           { c.cancel(errUnwanted) }

func (c *storeCall) work() {
	defer c.cancel(nil)
	v := engine.Event{Op: c.k.op, Stream: c.k.stream, Kind: engine.StoreResult}
	s := c.l.host.Store()
	switch c.asked.Verb {
	case engine.StoreGet:
		v.Data, v.Err = s.Get(c.ctx, c.asked.Name)
	case engine.StorePut:
		v.Err = s.Put(c.ctx, c.asked.Name, c.asked.Data)
	case engine.StoreDelete:
		v.Err = s.Delete(c.ctx, c.asked.Name)
	case engine.StoreList:
		v.Names, v.Err = s.List(c.ctx)
	case engine.StoreLock:
		c.hold(v)
		return
	}
	c.l.answer(c.k, v)
}

// hold keeps the lock until the engine gives it up.
func (c *storeCall) hold(v engine.Event) {
	unlock, err := c.l.host.Store().Lock(c.ctx, c.asked.Name)
	if v.Err = err; err != nil {
		c.l.answer(c.k, v)
		return
	}
	defer unlock()
	c.l.event(v)
	<-c.ctx.Done()
}

func (l *Loop) answer(k key, v engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.streams, k)
	l.engine.Event(v)
	l.perform()
}

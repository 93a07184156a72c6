package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// maxWaiting is how many bytes may wait for a caller before nothing more is read
// for his operation.
const maxWaiting = 1 << 20

// operation is one call that the core has not ended. Its fields belong to the
// mutex of the host, but those of the caller.
type operation struct {
	h    *Host
	id   uint32
	call *Call
	pid  uint32 // the caller's

	queue   []item
	waiting int           // bytes in queue
	wake    chan struct{} // the queue has something
	room    *sync.Cond    // the caller has taken something, or nothing matters any more
	busy    bool          // a callback of the caller runs
	left    bool          // the caller is settled

	ctx    context.Context // ends with the operation
	end    context.CancelFunc
	inputs sync.Mutex // one piece of input at a time
}

func (h *Host) begin(c *Call) (*operation, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.start(); err != nil {
		return nil, err
	}
	h.last++
	o := &operation{h: h, id: h.last, call: c, wake: make(chan struct{}, 1), room: sync.NewCond(&h.mu)}
	o.ctx, o.end = context.WithCancel(context.Background())
	h.ops[o.id] = o
	h.run(input(key{o.id, 0}, frame.Call, frame.Mixed(text), c.Attached))
	return o, nil
}

// push gives the caller something; called under the mutex.
func (o *operation) push(kind frame.Kind, payload []byte) {
	if o.left {
		return
	}
	o.queue = append(o.queue, item{kind, payload})
	o.waiting += len(payload)
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// next waits for what comes next for the caller. The end of ctx comes first,
// unless the result is there: what a call has made must not be lost.
func (h *Host) next(ctx context.Context, o *operation) (item, error) {
	for {
		if it, err, ok := h.take(ctx, o); ok {
			return it, err
		}
		select {
		case <-o.wake:
		case <-ctx.Done():
		}
	}
}

func (h *Host) take(ctx context.Context, o *operation) (it item, err error, ok bool) { //nolint:revive // ok says whether the others mean anything
	h.mu.Lock()
	defer h.mu.Unlock()
	o.busy = false
	o.room.Broadcast()
	settled := len(o.queue) > 0 && o.queue[0].kind == frame.Result
	if ctx.Err() != nil && !settled {
		return it, context.Cause(ctx), true
	}
	if len(o.queue) == 0 {
		return it, nil, false
	}
	it, o.queue = o.queue[0], o.queue[1:]
	o.waiting -= len(it.payload)
	o.busy = true
	return it, nil, true
}

// leave settles the caller: nothing is kept for him any more.
func (h *Host) leave(o *operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o.left, o.busy, o.queue, o.waiting = true, false, nil, 0
	o.room.Broadcast()
}

// await waits until the caller of k has room for more, or k is over.
func (h *Host) await(k key) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.ops[k.op]
	for o != nil && h.streams[k] != nil && (o.busy || o.waiting > maxWaiting) {
		o.room.Wait()
	}
	return o != nil && h.streams[k] != nil
}

// wanted asks the caller for a piece of his input.
func (o *operation) wanted() {
	go func() {
		o.inputs.Lock()
		defer o.inputs.Unlock()
		b, err := o.read()
		if err == nil {
			o.h.feed(input(key{o.id, 0}, frame.Input, b))
			return
		}
		var why []byte
		if !errors.Is(err, io.EOF) {
			why, _ = json.Marshal(map[string]string{"error": err.Error()})
		}
		o.h.feed(input(key{o.id, 0}, frame.InputEnd, why))
	}()
}

func (o *operation) read() ([]byte, error) {
	if o.call.Input == nil || o.ctx.Err() != nil {
		return nil, io.EOF
	}
	return o.call.Input(o.ctx)
}

// over forgets everything about the operation; called under the mutex.
func (o *operation) over() {
	delete(o.h.ops, o.id)
	for k := range o.h.streams {
		if k.op == o.id {
			o.h.stop(k)
		}
	}
	o.end()
	o.room.Broadcast()
}

package shell

import (
	"encoding/binary"
	"time"

	"github.com/agent-sandbox/agent-sandbox/wasm/engine"
	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
)

// timers are the orders about timers of one turn. They are given at its end, when
// it is known which of them still matter: most of a short call's timers are set
// and cleared, or end with their operation, within a turn.
type timers struct {
	orders []timerOrder
	at     map[timerKey]int
}

type timerKey struct{ op, stream uint32 }

type timerOrder struct {
	timerKey
	kind  frame.Kind // 0 = nothing
	fresh bool       // the host has not heard of it
	after time.Duration
}

func (t *timers) order(o *engine.Out) {
	key := timerKey{o.Op, o.Stream}
	i, ok := t.at[key]
	if !ok {
		if t.at == nil {
			t.at = map[timerKey]int{}
		}
		i = len(t.orders)
		t.at[key] = i
		t.orders = append(t.orders, timerOrder{timerKey: key, fresh: o.Fresh})
	}
	order := &t.orders[i]
	switch {
	case o.Kind == engine.TimerSet:
		order.kind, order.after = frame.TimerSet, o.After
	case order.fresh:
		order.kind = 0
	default:
		order.kind = frame.TimerClear
	}
}

// done forgets the timers of an operation: the host ends them with it.
func (t *timers) done(op uint32) {
	for i := range t.orders {
		if t.orders[i].op == op {
			t.orders[i].kind = 0
		}
	}
}

// append writes what is left and begins anew.
func (t *timers) append(b []byte) []byte {
	for _, o := range t.orders {
		f := frame.Frame{Op: o.op, Stream: o.stream, Kind: o.kind}
		switch o.kind {
		case frame.TimerSet:
			var ms [4]byte
			binary.LittleEndian.PutUint32(ms[:], millis(o.after))
			f.Payload = ms[:]
			b = frame.Append(b, f)
		case frame.TimerClear:
			b = frame.Append(b, f)
		}
	}
	t.orders = t.orders[:0]
	clear(t.at)
	return b
}

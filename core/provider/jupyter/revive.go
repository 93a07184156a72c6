package jupyter

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// answerWait is how long a kernel that was just started may take for one answer.
const answerWait = time.Second

// revive waits until a kernel that the server starts afresh answers. A server may
// give it new ports, and what was dialled before that is lost: code of the next run
// would never arrive.
func (x *run) revive(ctx context.Context) {
	host := x.i.control.host
	limited, _, disarm := host.Limit(ctx, transport.ClockRequest, cleanup)
	defer disarm()
	for {
		answered, err := x.answers(limited)
		if answered || err != nil || host.Sleep(limited, look) != nil {
			return
		}
	}
}

// answers asks the kernel, by a WebSocket of its own, who it is. Its error is that
// of dialling: the server knows no such kernel any more.
func (x *run) answers(ctx context.Context) (bool, error) {
	c := x.i.control
	limited, _, disarm := c.host.Limit(ctx, transport.ClockRequest, answerWait)
	defer disarm()
	session := c.random(16)
	probe := &run{i: x.i, kernel: x.kernel, id: c.random(16)}
	if err := probe.dial(limited, session); limited.Err() != nil {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer probe.socket.Close()
	if probe.send(limited, session, "kernel_info_request", struct{}{}) != nil {
		return false, nil
	}
	for {
		isBinary, b, err := probe.socket.Next(limited)
		if err != nil {
			return false, nil
		}
		m, err := probe.framing.read(isBinary, b)
		if err == nil && m.Parent.ID == probe.id && m.Header.Type == "kernel_info_reply" {
			return true, nil
		}
	}
}

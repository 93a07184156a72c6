package jupyter

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// patience is how long an interrupted kernel may take to be usable again.
const patience = 2 * time.Second

// look is between two questions whether it is.
const look = 50 * time.Millisecond

func (i *interpreter) interrupt(ctx context.Context, id string) error {
	return i.control.call(ctx, false, "POST", kernelPath(id)+"/interrupt", struct{}{}, nil)
}

// idle waits for a kernel to be idle.
func (i *interpreter) idle(ctx context.Context, id string) bool {
	host := i.control.host
	limited, _, disarm := host.Limit(ctx, transport.ClockRequest, patience)
	defer disarm()
	for {
		k, err := i.kernel(limited, id)
		if err == nil && k.State == "idle" {
			return true
		}
		if host.Sleep(limited, look) != nil {
			return false
		}
	}
}

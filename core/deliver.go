package core

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Deliver has the host give a file to its caller, and returns when it has: how
// many bytes that were. It is for hosts that deliver bodies themselves; a Go
// program uses Open.
func (f *Files) Deliver(ctx context.Context, path string, o FileOptions) (int64, error) {
	resp, err := f.open(ctx, path, o, true)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, ok := resp.Body.(transport.Deliverer)
	if !ok {
		return 0, fault.New(fault.CodeInternal, "this host does not deliver bodies itself")
	}
	d := transport.Delivery{Idle: orElse(o.IdleTimeout, f.s.client.settings.IdleTimeout), Gzip: isGzip(resp)}
	if o.ignored(resp) {
		d.Skip, d.Take = o.Offset, o.Length
	}
	n, err := body.Deliver(ctx, d)
	return n, f.cut(ctx, err)
}

package core

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// cancelled makes sure that a call whose ctx has ended reports just that.
func cancelled(ctx context.Context, err error) error {
	if ctx.Err() == nil || err == nil || fault.CodeOf(err) == fault.CodeCancelled {
		return err
	}
	return connect.Cancelled(ctx)
}

package e2b

import (
	"context"
	"errors"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Newer routes exist beside older ones (e2b.md 1.2). Which a peer has is worth
// keeping in the cache: "v1" or "v2".

func (c *control) versionKey() string { return "e2b.api|" + c.base }

func (c *control) version() string {
	v, _ := c.host.Cache().Get(c.versionKey())
	s, _ := v.(string)
	return s
}

// versioned tries the v2 route and, where the peer has none, the v1 route. The
// answer 404 alone does not tell a missing route from a missing thing: v1
// deciding otherwise does.
func (c *control) versioned(ctx context.Context, v2, v1 func(context.Context) error) error {
	if c.preset.EndlessLife { // our own server has both, and takes a life of 0 on v2 alone
		return v2(ctx)
	}
	if c.version() == "v1" {
		return v1(ctx)
	}
	err := v2(ctx)
	if !routeMayBeMissing(err) || c.version() == "v2" {
		if err == nil {
			c.host.Cache().Put(c.versionKey(), "v2")
		}
		return err
	}
	older := v1(ctx)
	if routeMayBeMissing(older) {
		return err
	}
	if older == nil {
		c.host.Cache().Put(c.versionKey(), "v1")
	}
	return older
}

func routeMayBeMissing(err error) bool {
	var e *fault.Error
	return errors.As(err, &e) && (e.Status == 404 || e.Status == 405 || e.Status == 501)
}

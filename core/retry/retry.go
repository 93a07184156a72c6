// Package retry repeats calls that may be repeated, and no others.
package retry

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// DefaultMax is how often a call is repeated unless configured.
const DefaultMax = 3

// Policy says how often and how long. The zero value never repeats.
type Policy struct {
	Max   int           // repetitions after the first try
	Total time.Duration // waits that would pass this are not begun; 0 = 60 s
}

const (
	firstDelay   = 100 * time.Millisecond
	longestDelay = 10 * time.Second
	defaultTotal = 60 * time.Second
)

// Do runs call, and again while its error allows. What the peer says in
// Should-Retry decides (e2b.md 10). Else any call is repeated after 429 or 503
// with Retry-After or when the peer cannot have seen it, an idempotent one also
// after other failures of the network and of the service (surface.md 2). The
// last error is returned as it came.
func Do(ctx context.Context, h transport.Host, p Policy, idempotent bool, call func(ctx context.Context) error) error {
	total := p.Total
	if total == 0 {
		total = defaultTotal
	}
	var waited time.Duration
	for try := 0; ; try++ {
		err := call(ctx)
		if err == nil || try >= p.Max || ctx.Err() != nil || !allows(err, idempotent) {
			return err
		}
		d := delay(h, err, try)
		if waited += d; waited > total {
			return err
		}
		if h.Sleep(ctx, d) != nil {
			return err
		}
	}
}

// asked is an answer whose peer may say whether the call may be repeated.
type asked interface {
	error
	MayRepeat() (may, said bool)
}

// unsent is a failure that may have come before the peer saw the call.
type unsent interface {
	error
	NeverSent() bool
}

func allows(err error, idempotent bool) bool {
	e := fault.As(err)
	if e == nil {
		return false
	}
	var answer asked
	if errors.As(err, &answer) {
		if may, said := answer.MayRepeat(); said {
			return may
		}
	}
	var early unsent
	if errors.As(err, &early) && early.NeverSent() {
		return true
	}
	if (e.Status == 429 || e.Status == 503) && e.RetryAfter > 0 {
		return true
	}
	var network *transport.NetError
	if errors.As(err, &network) {
		return idempotent
	}
	return idempotent && (e.Status == 502 || e.Status == 503 || e.Status == 504)
}

// delay is the server's wish, else exponential with a factor in 0.5..1.
func delay(h transport.Host, err error, try int) time.Duration {
	if e := fault.As(err); e != nil && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	d := min(firstDelay<<try, longestDelay)
	var b [2]byte
	h.Rand(b[:])
	return d/2 + d/2*time.Duration(binary.BigEndian.Uint16(b[:]))/65535
}

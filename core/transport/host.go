// Package transport is what a host must provide to the core, and nothing more.
// There are two implementations: native (goroutines, net/http) and the task
// engine of wasm/engine (coroutines driven by frames). Both pass the same tests.
//
// What the core owns: protocols, clocks' meaning, retries, errors, results.
// What the host owns: sockets, bytes in bulk, timers, randomness, the calendar,
// storage, and how many things run at once.
package transport

import (
	"context"
	"time"
)

// Host bundles everything an operation may wait with. Every method that waits
// returns when the ctx it is given ends, with context.Cause(ctx).
type Host interface {
	// Do sends r and waits for the response head. Redirects are not followed.
	// A failure to get a head is a *NetError, a clock's firing a Timeout.
	Do(ctx context.Context, r *Request) (*Response, error)
	// Dial opens a WebSocket.
	Dial(ctx context.Context, r *SocketRequest) (Socket, error)

	// Limit starts a named clock: d after the start or the last reset, limited
	// ends with a Timeout cause. disarm only clears the timer: what was started
	// on limited lives on, and ends with ctx. reset after disarm or after firing
	// does nothing. d <= 0 is no clock.
	Limit(ctx context.Context, clock string, d time.Duration) (limited context.Context, reset, disarm func())
	// Later is a Limit whose clock begins with start; starting it twice does nothing.
	Later(ctx context.Context, clock string, d time.Duration) (limited context.Context, start, disarm func())
	// Detached is a ctx for cleaning up that the end of ctx does not end, under
	// the cleanup clock.
	Detached(ctx context.Context, d time.Duration) (detached context.Context, disarm func())

	// Sleep waits for d (between retries); it ends early, with the cause, when
	// ctx does.
	Sleep(ctx context.Context, d time.Duration) error

	// Flight runs fn once for all concurrent callers of key, on a ctx that ends
	// when the last of them has left. A panic in fn becomes an error for all.
	Flight(ctx context.Context, key string, fn func(context.Context) (any, error)) (any, error)
	// Par runs fn(0) to fn(n-1), at most limit at a time. The first error
	// cancels the rest; it returns when all have ended.
	Par(ctx context.Context, limit, n int, fn func(ctx context.Context, i int) error) error

	// Rand fills b with cryptographically strong random bytes.
	Rand(b []byte)
	// Now is the host's calendar time.
	Now() time.Time
	// Cache keeps what is worth a round trip. Losing it never changes a result.
	Cache() Cache
	// Store keeps named sessions; nil where the host has none.
	Store() Store
}

// Cache is a discardable map, safe for concurrent use.
type Cache interface {
	Get(key string) (any, bool)
	Put(key string, value any)
	Delete(key string)
}

// Store keeps small named blobs durably. Missing names give ErrNotStored.
type Store interface {
	Get(ctx context.Context, name string) ([]byte, error)
	Put(ctx context.Context, name string, blob []byte) error
	Delete(ctx context.Context, name string) error
	List(ctx context.Context) ([]string, error)
	// Lock holds name exclusively until unlock is called.
	Lock(ctx context.Context, name string) (unlock func(), err error)
}

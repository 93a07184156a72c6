package transport

import (
	"context"
	"io"
	"time"
)

// Request is one HTTP exchange as the core wants it on the wire.
type Request struct {
	Method string
	URL    string
	Header Header
	Body   Body
	// Bulk says that the response body will be handed to the host whole
	// (ToHost) when its status is a success. The head is delivered as usual.
	Bulk bool
	// Lasting says that the answer goes on for as long as a process or a watch
	// does. A host with few connections a peer keeps it apart.
	Lasting bool
	// Alone asks for a connection of its own where the host can choose: HTTP/1.1,
	// on which hanging up ends the connection. Some peers take no notice of the
	// reset of a stream.
	Alone bool
}

// Body of a request. The zero value is no body. Either Bytes, or Source with
// an optional Prefix and Suffix, or Next.
type Body struct {
	Bytes []byte // a small body, held by the core
	// Source is bulk data that never passes through the core; the host streams
	// Prefix, Source, Suffix. Natively an io.Reader behind native.Source.
	Source         Source
	Prefix, Suffix []byte
	// Gzip has the host compress the whole of Bytes, or of Prefix, Source, Suffix,
	// on the way; the request says so in its header.
	Gzip bool
	// Next produces the body piece by piece (client streams); io.EOF ends it.
	// A piece is sent before the next one is asked for.
	Next func(ctx context.Context) ([]byte, error)
}

// Source names bulk data that the host owns.
type Source interface {
	// Size in bytes; false when unknown.
	Size() (int64, bool)
	// Replayable tells whether a second request may send it again.
	Replayable() bool
}

// Response is the head; the body follows.
type Response struct {
	Status int
	Header Header
	Body   ResponseBody
}

// ResponseBody is read by one task. Exactly one of Next (repeatedly) and ToHost
// is used. Close is idempotent and aborts what has not been read.
type ResponseBody interface {
	// Next waits for the next chunk; io.EOF ends a complete body, a *NetError
	// an incomplete one. The chunk is valid until the following Next or Close.
	// When ctx ends first the body is dead.
	Next(ctx context.Context) ([]byte, error)
	// ToHost gives the rest to the host, which minds the idle clock (0 = none).
	ToHost(idle time.Duration) Stream
	Close()
}

// Delivery says how a host gives a body to its caller.
type Delivery struct {
	Idle time.Duration // between chunks; 0 = no clock
	Gzip bool          // undo the compression
	Skip int64         // bytes of the plain body that the caller does not want
	Take int64         // at most so many after them; 0 = all
}

// Deliverer is a ResponseBody of a host that can tell when its caller has the
// whole body of a Bulk request.
type Deliverer interface {
	// Deliver returns when the caller has it: how many bytes. The idle clock is a
	// Timeout, a broken connection a *NetError. When ctx ends, the host stops.
	Deliver(ctx context.Context, d Delivery) (int64, error)
}

// Stream is a response body that the host delivers to the caller. Natively it
// is read here; in the engine the host reads it and Read fails.
type Stream interface {
	io.ReadCloser
}

// SocketRequest opens a WebSocket.
type SocketRequest struct {
	URL          string
	Header       Header
	Subprotocols []string
	MaxMessage   int64 // bytes; 0 = 16 MiB
}

// Socket is an open WebSocket. Text and binary stay apart.
type Socket interface {
	Send(ctx context.Context, binary bool, b []byte) error
	// Subprotocol is the one of those asked for that the peer chose; "" = none.
	Subprotocol() string
	// Next waits for a message; io.EOF after a normal close.
	Next(ctx context.Context) (binary bool, b []byte, err error)
	Close()
}

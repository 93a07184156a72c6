package engine

import (
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// EventKind says what the host reports.
type EventKind uint8

// Events, host to core.
const (
	HTTPHead     EventKind = iota + 1 // Status, Header
	HTTPChunk                         // Data; the host's buffer, see Engine.Event
	HTTPEnd                           // the body is complete
	HTTPError                         // Err; the exchange is over
	BodyWanted                        // the host has sent what it had and takes another piece of the request body
	SocketOpen                        // the WebSocket is open
	SocketText                        // Data is one text message
	SocketBinary                      // Data is one binary message
	SocketClosed                      // Err; nil after a normal close
	TimerFired                        // the timer that TimerSet started
	StoreResult                       // Data or Names, or Err
	Input                             // Data is a piece of what the caller sends; Stream is 0
	InputEnd                          // Err is why it failed, nil when it is complete; Stream is 0
	Cancel                            // Err is the cause; Stream is 0
)

// Event is one report of the host. Op and Stream say whom it concerns; one that
// concerns nobody is late, and ignored.
type Event struct {
	Op, Stream uint32
	Kind       EventKind
	Status     int
	Header     transport.Header
	Data       []byte
	Names      []string
	Bytes      int64 // HTTPEnd of a body that the host delivered: how many the caller got
	Err        error
}

// OutKind says what the host is to do.
type OutKind uint8

// Outs, core to host.
const (
	HTTPRequest  OutKind = iota + 1 // Request; with Pieces the body follows as HTTPBody
	HTTPBody                        // Data is one piece of the request body
	HTTPBodyEnd                     // the request body is complete
	HTTPAbort                       // end the exchange; nothing about it is wanted any more
	BodyToHost                      // the body of a Bulk request belongs to the host: Delivery
	BodyToCore                      // the body of a Bulk request is to come as chunks
	SocketDial                      // Socket
	SendText                        // Data
	SendBinary                      // Data
	SocketClose                     // close it; nothing about it is wanted any more
	TimerSet                        // After; one that is set already starts anew
	TimerClear                      //
	StoreCall                       // Verb, Name, Data
	StoreRelease                    // give up the lock that this stream holds or waits for
	Emit                            // Value for the caller, before the result
	Output                          // Data of channel Channel for the caller, before the result
	InputWanted                     // the operation takes one more piece of what the caller sends
	Result                          // Value or Err: settles the caller
	Done                            // the op id is free
)

// Verb is what is asked of the store.
type Verb uint8

// Verbs of StoreCall.
const (
	StoreGet Verb = iota + 1
	StorePut
	StoreDelete
	StoreList
	StoreLock
)

// Out is one order to the host. From Take its bytes are its own; a Sink has them
// until it returns.
type Out struct {
	Op, Stream uint32
	Kind       OutKind
	Request    *transport.Request // Body.Next is nil; see Pieces
	Pieces     bool
	Socket     *transport.SocketRequest
	After      time.Duration
	Fresh      bool // TimerSet: the host has not heard of this timer
	Delivery   transport.Delivery
	Channel    uint8
	Verb       Verb
	Name       string
	Data       []byte
	Value      any
	Err        error
}

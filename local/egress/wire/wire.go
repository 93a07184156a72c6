// Package wire is what the relay inside a sandbox and the host side say to each
// other: one connection of a unix socket for each TCP connection.
//
//	request: u8 kind | u16 port, big-endian | u8 n | n bytes of host
//	answer:  u8 status, only to Connect
//
// After status OK of a Connect both directions are raw bytes; shutdown of one
// direction is its end, and a full close before both have ended is a reset.
// After a DNS request come messages as in DNS over TCP: u16 length | message.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind says what a connection is for.
type Kind byte

// Kinds of requests.
const (
	// Connect asks for a connection to Host, a name or an address.
	Connect Kind = 1
	// DNS carries name questions; port is 0 and host is empty.
	DNS Kind = 2
)

// Status is the answer to Connect.
type Status byte

// Statuses. Anything unknown is a failure.
const (
	OK          Status = 0
	Refused     Status = 1 // the rules say no
	Unreachable Status = 2 // nothing answers there
	TimedOut    Status = 3
	NoName      Status = 4 // the name does not resolve
)

// MaxHost is the longest host in bytes; a DNS name has at most 253.
const MaxHost = 253

// MaxMessage is the longest DNS message in bytes.
const MaxMessage = 1<<16 - 1

// ErrMalformed is returned for a request that is none.
var ErrMalformed = errors.New("malformed request")

// Request opens a connection.
type Request struct {
	Kind Kind
	Port uint16
	Host string
}

// Append adds the encoded request to b. A host that is too long is ErrMalformed.
func (r Request) Append(b []byte) ([]byte, error) {
	if len(r.Host) > MaxHost {
		return b, ErrMalformed
	}
	b = append(b, byte(r.Kind), byte(r.Port>>8), byte(r.Port), byte(len(r.Host)))
	return append(b, r.Host...), nil
}

// ReadRequest reads exactly one request.
func ReadRequest(from io.Reader) (Request, error) {
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	r := Request{Kind: Kind(head[0]), Port: binary.BigEndian.Uint16(head[1:])}
	host := make([]byte, head[3])
	if _, err := io.ReadFull(from, host); err != nil {
		return Request{}, fmt.Errorf("read host: %w", err)
	}
	r.Host = string(host)
	return r, r.check()
}

func (r Request) check() error {
	switch {
	case r.Kind == DNS && r.Port == 0 && r.Host == "":
		return nil
	case r.Kind == Connect && r.Port != 0 && r.Host != "" && len(r.Host) <= MaxHost:
		return nil
	}
	return ErrMalformed
}

// ReadStatus reads the answer to Connect.
func ReadStatus(from io.Reader) (Status, error) {
	var b [1]byte
	if _, err := io.ReadFull(from, b[:]); err != nil {
		return Unreachable, fmt.Errorf("read status: %w", err)
	}
	return Status(b[0]), nil
}

// WriteStatus answers a Connect.
func WriteStatus(to io.Writer, s Status) error {
	_, err := to.Write([]byte{byte(s)})
	return err
}

// ReadMessage reads one DNS message of at most MaxMessage bytes.
func ReadMessage(from io.Reader) ([]byte, error) {
	var n [2]byte
	if _, err := io.ReadFull(from, n[:]); err != nil {
		return nil, err
	}
	m := make([]byte, binary.BigEndian.Uint16(n[:]))
	_, err := io.ReadFull(from, m)
	return m, err
}

// WriteMessage writes one DNS message.
func WriteMessage(to io.Writer, m []byte) error {
	if len(m) > MaxMessage {
		return ErrMalformed
	}
	_, err := to.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(m))), m...))
	return err
}

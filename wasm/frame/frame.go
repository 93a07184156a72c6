// Package frame is the binary form in which a host and the core speak
// (wasm/ABI.md).
//
//	u32 len | u32 op | u32 stream | u16 kind | u16 flags | payload | zeros up to a multiple of 4
//
// Little-endian. len is the payload's length without the zeros.
package frame

import (
	"encoding/binary"
	"errors"
)

// Kind says what a frame is.
type Kind uint16

// Host to core.
const (
	Call        Kind = 1
	Cancel      Kind = 2
	HTTPHead    Kind = 3
	HTTPChunk   Kind = 4
	HTTPEnd     Kind = 5
	HTTPError   Kind = 6
	HTTPWanted  Kind = 7
	WSOpen      Kind = 8
	WSText      Kind = 9
	WSBinary    Kind = 10
	WSClosed    Kind = 11
	Timer       Kind = 12
	StoreResult Kind = 13
	Input       Kind = 14
	InputEnd    Kind = 15
)

// Core to host.
const (
	HTTPRequest Kind = 64
	HTTPBody    Kind = 65
	HTTPBodyEnd Kind = 66
	HTTPAbort   Kind = 67
	BodyToHost  Kind = 68
	BodyToCore  Kind = 69
	WSDial      Kind = 70
	SendText    Kind = 71
	SendBinary  Kind = 72
	WSClose     Kind = 73
	TimerSet    Kind = 74
	TimerClear  Kind = 75
	Store       Kind = 76
	Stdout      Kind = 77
	Stderr      Kind = 78
	PTY         Kind = 79
	Event       Kind = 80
	Result      Kind = 81
	Error       Kind = 82
	Done        Kind = 83
	InputWanted Kind = 84
	Messages    Kind = 85
	Object      Kind = 86
)

// Version of the ABI.
const Version = 1

const headerSize = 16

// Frame is one frame. Payload aliases the buffer that it was read from.
type Frame struct {
	Op, Stream uint32
	Kind       Kind
	Flags      uint16
	Payload    []byte
}

// ErrTruncated is a buffer that ends inside a frame.
var ErrTruncated = errors.New("the buffer ends inside a frame")

// Append adds f to b. The payload may be given in parts, which spares a copy.
func Append(b []byte, f Frame, more ...[]byte) []byte {
	n := len(f.Payload)
	for _, p := range more {
		n += len(p)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(n)) //nolint:gosec // a payload is far below 4 GiB
	b = binary.LittleEndian.AppendUint32(b, f.Op)
	b = binary.LittleEndian.AppendUint32(b, f.Stream)
	b = binary.LittleEndian.AppendUint16(b, uint16(f.Kind))
	b = binary.LittleEndian.AppendUint16(b, f.Flags)
	b = append(b, f.Payload...)
	for _, p := range more {
		b = append(b, p...)
	}
	for ; n%4 != 0; n++ {
		b = append(b, 0)
	}
	return b
}

// Next takes the first frame off b.
func Next(b []byte) (f Frame, rest []byte, err error) {
	if len(b) < headerSize {
		return f, nil, ErrTruncated
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	padded := (n + 3) &^ 3
	if uint64(len(b)-headerSize) < padded {
		return f, nil, ErrTruncated
	}
	f = Frame{
		Op: binary.LittleEndian.Uint32(b[4:]), Stream: binary.LittleEndian.Uint32(b[8:]),
		Kind: Kind(binary.LittleEndian.Uint16(b[12:])), Flags: binary.LittleEndian.Uint16(b[14:]),
		Payload: b[headerSize : headerSize+n],
	}
	return f, b[headerSize+padded:], nil
}

// Mixed is the payload of JSON followed by raw bytes, without the raw bytes.
func Mixed(json []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(json)), uint32(len(json))), json...) //nolint:gosec // as above
}

// Split takes a mixed payload apart.
func Split(payload []byte) (json, raw []byte, err error) {
	if len(payload) < 4 {
		return nil, nil, ErrTruncated
	}
	n := uint64(binary.LittleEndian.Uint32(payload))
	if uint64(len(payload)-4) < n {
		return nil, nil, ErrTruncated
	}
	return payload[4 : 4+n], payload[4+n:], nil
}

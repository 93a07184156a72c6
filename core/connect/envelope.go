package connect

import (
	"encoding/binary"
	"fmt"
)

// A stream is a sequence of envelopes: one flag byte, four bytes of big-endian
// length, the message. Flag 1 marks a compressed message (we never offer it),
// flag 2 the end of the stream, whose message is always JSON.
const (
	headSize       = 5
	flagCompressed = 0x01
	flagEnd        = 0x02
)

// DefaultMaxMessage bounds one message unless configured.
const DefaultMaxMessage = 16 << 20

// beginEnvelope reserves the head; endEnvelope fills it in.
func beginEnvelope(b []byte) []byte { return append(b, 0, 0, 0, 0, 0) }

func endEnvelope(b []byte, start int) []byte {
	binary.BigEndian.PutUint32(b[start+1:], uint32(len(b)-start-headSize))
	return b
}

// decoder splits a stream of chunks into envelopes, wherever the chunks were
// cut. A message that lies whole in one chunk is not copied.
type decoder struct {
	chunk []byte // what is left of the current chunk
	part  []byte // the head and body of a message that spans chunks
	taken bool   // part was handed out by the last pop
	max   int
}

// push gives the next chunk. The previous one must have been popped dry.
func (d *decoder) push(chunk []byte) { d.chunk = chunk }

// pop returns a message that is valid until the next pop or push.
func (d *decoder) pop() (flags byte, msg []byte, ok bool, err error) {
	if d.taken {
		d.part, d.taken = d.part[:0], false
	}
	if len(d.part) == 0 {
		if flags, msg, ok, err = d.whole(); ok || err != nil {
			return flags, msg, ok, err
		}
	}
	return d.joined()
}

func (d *decoder) whole() (flags byte, msg []byte, ok bool, err error) {
	if len(d.chunk) < headSize {
		return 0, nil, false, nil
	}
	n, err := d.size(d.chunk)
	if err != nil || len(d.chunk) < headSize+n {
		return 0, nil, false, err
	}
	flags, msg = d.chunk[0], d.chunk[headSize:headSize+n]
	d.chunk = d.chunk[headSize+n:]
	return flags, msg, true, nil
}

func (d *decoder) joined() (flags byte, msg []byte, ok bool, err error) {
	d.fill(headSize)
	if len(d.part) < headSize {
		return 0, nil, false, nil
	}
	n, err := d.size(d.part)
	if err != nil {
		return 0, nil, false, err
	}
	d.fill(headSize + n)
	if len(d.part) < headSize+n {
		return 0, nil, false, nil
	}
	d.taken = true
	return d.part[0], d.part[headSize:], true, nil
}

func (d *decoder) fill(want int) {
	n := min(max(want-len(d.part), 0), len(d.chunk))
	d.part = append(d.part, d.chunk[:n]...)
	d.chunk = d.chunk[n:]
}

func (d *decoder) size(head []byte) (int, error) {
	if head[0]&^(flagCompressed|flagEnd) != 0 || head[0]&flagCompressed != 0 {
		return 0, fmt.Errorf("envelope flags %#02x", head[0])
	}
	n := binary.BigEndian.Uint32(head[1:])
	if int64(n) > int64(d.max) {
		return 0, fmt.Errorf("a message of %d bytes, more than the limit of %d", n, d.max)
	}
	return int(n), nil
}

package jupyter

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	core "github.com/agent-sandbox/agent-sandbox/core/interpreter"
)

// framing is how messages are written on the WebSocket of a kernel.
type framing bool

const (
	wholeJSON framing = false // one JSON text; or that behind a table of its buffers
	parts     framing = true  // a table of parts, and the parts
)

// protocolParts is the subprotocol of parts. A server without it speaks whole JSON.
const protocolParts = "v1.kernel.websocket.jupyter.org"

var errMessage = errors.New("a message whose parts are not where it says")

// message is one of the kernel's.
type message struct {
	Channel string `json:"channel"`
	Header  struct {
		Type string `json:"msg_type"`
	} `json:"header"`
	Parent struct {
		ID string `json:"msg_id"`
	} `json:"parent_header"`
	Content json.RawMessage `json:"content"`
}

// request is a message to a kernel.
type request struct {
	Channel  string   `json:"channel"`
	Header   header   `json:"header"`
	Parent   struct{} `json:"parent_header"`
	Metadata struct{} `json:"metadata"`
	Content  any      `json:"content"`
	Buffers  []string `json:"buffers"`
}

type header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	User     string `json:"username"`
	Date     string `json:"date"`
	Type     string `json:"msg_type"`
	Protocol string `json:"version"`
}

// write gives the message as it is sent, and whether it is binary.
func (f framing) write(r *request) (binaryMessage bool, b []byte, err error) {
	if f == wholeJSON {
		b, err = json.Marshal(r)
		return false, b, err
	}
	pieces := [][]byte{[]byte(r.Channel)}
	for _, part := range []any{r.Header, r.Parent, r.Metadata, r.Content} {
		piece, err := json.Marshal(part)
		if err != nil {
			return true, nil, err
		}
		pieces = append(pieces, piece)
	}
	return true, table(pieces), nil
}

const word = 8 // bytes of a number in a table of parts

// table writes the number of offsets, the offsets and the parts: one offset more
// than parts, which is the end.
func table(pieces [][]byte) []byte {
	n := len(pieces) + 1
	b := binary.LittleEndian.AppendUint64(nil, uint64(n))
	at := uint64((n + 1) * word)
	for _, piece := range pieces {
		b = binary.LittleEndian.AppendUint64(b, at)
		at += uint64(len(piece))
	}
	b = binary.LittleEndian.AppendUint64(b, at)
	for _, piece := range pieces {
		b = append(b, piece...)
	}
	return b
}

// read takes a message apart.
func (f framing) read(binaryMessage bool, b []byte) (*message, error) {
	if !binaryMessage {
		return readJSON(b)
	}
	if f == wholeJSON {
		first, err := beforeBuffers(b)
		if err != nil {
			return nil, err
		}
		return readJSON(first)
	}
	pieces, err := untable(b)
	if err != nil {
		return nil, err
	}
	m := &message{Channel: string(pieces[0])}
	if json.Unmarshal(pieces[1], &m.Header) != nil || json.Unmarshal(pieces[2], &m.Parent) != nil {
		return nil, errMessage
	}
	if m.Content = pieces[4]; json.Valid(m.Content) {
		return m, nil
	}
	m.Content, err = core.Clean(m.Content)
	return m, err
}

func readJSON(b []byte) (*message, error) {
	var m message
	if json.Unmarshal(b, &m) == nil {
		return &m, nil
	}
	clean, err := core.Clean(b)
	if err != nil {
		return nil, err
	}
	m = message{}
	return &m, json.Unmarshal(clean, &m)
}

// leastParts are channel, header, parent header, metadata and content.
const leastParts = 5

// untable is the other way of table. More parts are buffers.
func untable(b []byte) ([][]byte, error) {
	if len(b) < word {
		return nil, errMessage
	}
	n := binary.LittleEndian.Uint64(b)
	if n < leastParts+1 || n > uint64(len(b)/word-1) {
		return nil, errMessage
	}
	pieces := make([][]byte, 0, n)
	offset := func(i uint64) uint64 { return binary.LittleEndian.Uint64(b[(i+1)*word:]) }
	for i := range n - 1 {
		from, to := offset(i), offset(i+1)
		if from > to || to > uint64(len(b)) {
			return nil, errMessage
		}
		pieces = append(pieces, b[from:to])
	}
	return pieces, nil
}

// beforeBuffers is the JSON of a message that has buffers.
func beforeBuffers(b []byte) ([]byte, error) {
	const word = 4
	if len(b) < word {
		return nil, errMessage
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if n < 1 || uint64(len(b)) < (n+1)*word {
		return nil, errMessage
	}
	from, to := uint64(binary.BigEndian.Uint32(b[word:])), uint64(len(b))
	if n > 1 {
		to = uint64(binary.BigEndian.Uint32(b[2*word:]))
	}
	if from > to || to > uint64(len(b)) {
		return nil, errMessage
	}
	return b[from:to], nil
}

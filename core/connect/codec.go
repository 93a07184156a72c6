// Package connect speaks the Connect protocol over a transport.Host: unary
// calls, server streams and client streams, in binary protobuf and in JSON.
// Facts: e2b.md section 3.3 and the Connect protocol specification.
package connect

// Codec is how messages are written.
type Codec uint8

// The codecs. Proto is tried first; a peer that answers 415 gets JSON.
const (
	Proto Codec = iota
	JSON
)

func (c Codec) unaryType() string {
	if c == JSON {
		return "application/json"
	}
	return "application/proto"
}

func (c Codec) streamType() string {
	if c == JSON {
		return "application/connect+json"
	}
	return "application/connect+proto"
}

// Encoder is a request message.
type Encoder interface {
	AppendProto(b []byte) []byte
	AppendJSON(b []byte) ([]byte, error)
}

// Parser is an answer message. Parsing replaces the whole value; unknown fields
// are ignored. What it keeps of b must be copied.
type Parser interface {
	ParseProto(b []byte) error
	ParseJSON(b []byte) error
}

func encode(c Codec, m Encoder, b []byte) ([]byte, error) {
	if c == JSON {
		return m.AppendJSON(b)
	}
	return m.AppendProto(b), nil
}

// Parse reads b into m.
func Parse(c Codec, m Parser, b []byte) error {
	if c == JSON {
		return m.ParseJSON(b)
	}
	return m.ParseProto(b)
}

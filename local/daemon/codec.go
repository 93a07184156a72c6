package daemon

import (
	"encoding/base64"
	"errors"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	processpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

var errNotProto = errors.New("not a protobuf message")

// protoCodec is the binary codec.
type protoCodec struct{}

func newProtoCodec() protoCodec { return protoCodec{} }

func (protoCodec) Name() string { return "proto" }

func (c protoCodec) Marshal(v any) ([]byte, error) { return c.MarshalAppend(nil, v) }

// MarshalAppend lets connect-go reuse its buffers.
func (protoCodec) MarshalAppend(dst []byte, v any) ([]byte, error) {
	message, ok := v.(proto.Message)
	if !ok {
		return nil, errNotProto
	}
	return proto.MarshalOptions{}.MarshalAppend(dst, message)
}

func (protoCodec) Unmarshal(data []byte, v any) error {
	message, ok := v.(proto.Message)
	if !ok {
		return errNotProto
	}
	return proto.Unmarshal(data, message)
}

// jsonCodec is protobuf's JSON with a short way for command output, which is
// nearly all of the traffic and would be copied three times otherwise.
type jsonCodec struct{}

func newJSONCodec() jsonCodec { return jsonCodec{} }

func (jsonCodec) Name() string { return "json" }

func (c jsonCodec) Marshal(v any) ([]byte, error) { return c.MarshalAppend(nil, v) }

// MarshalAppend lets connect-go reuse its buffers.
func (jsonCodec) MarshalAppend(dst []byte, v any) ([]byte, error) {
	if name, data, ok := outputOf(v); ok {
		dst = append(dst, `{"event":{"data":{"`...)
		dst = append(dst, name...)
		dst = append(dst, `":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, data)
		return append(dst, `"}}}`...), nil
	}
	message, ok := v.(proto.Message)
	if !ok {
		return nil, errNotProto
	}
	return protojson.MarshalOptions{}.MarshalAppend(dst, message)
}

func (jsonCodec) Unmarshal(data []byte, v any) error {
	message, ok := v.(proto.Message)
	if !ok {
		return errNotProto
	}
	if len(data) == 0 {
		return errors.New("zero-length payload is not a valid JSON object")
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, message)
}

// outputOf returns the field and the bytes of a message that is command output.
func outputOf(v any) (name string, data []byte, ok bool) {
	var event *processpb.ProcessEvent
	switch m := v.(type) {
	case *processpb.StartResponse:
		event = m.GetEvent()
	case *processpb.ConnectResponse:
		event = m.GetEvent()
	}
	switch out := event.GetData().GetOutput().(type) {
	case *processpb.ProcessEvent_DataEvent_Stdout:
		return "stdout", out.Stdout, true
	case *processpb.ProcessEvent_DataEvent_Stderr:
		return "stderr", out.Stderr, true
	case *processpb.ProcessEvent_DataEvent_Pty:
		return "pty", out.Pty, true
	}
	return "", nil, false
}

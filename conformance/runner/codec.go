package runner

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	_ "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem" // the schemas
	_ "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// codecOf is how a request's messages are written; "" when it is no RPC.
func codecOf(contentType string) string {
	switch strings.TrimSpace(strings.Split(contentType, ";")[0]) {
	case "application/proto", "application/connect+proto":
		return "proto"
	case "application/json", "application/connect+json":
		return "json"
	}
	return ""
}

// method finds the schema of /package.Service/Method.
func method(path string) (protoreflect.MethodDescriptor, bool) {
	service, name, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok {
		return nil, false
	}
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return nil, false
	}
	s, ok := d.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil, false
	}
	m := s.Methods().ByName(protoreflect.Name(name))
	return m, m != nil
}

// encode writes a message, given in protobuf's JSON, in a codec. In JSON it goes
// out as it stands; {"$proto": bytes, "$json": any} gives both by hand.
func encode(path, codec string, message json.RawMessage) ([]byte, error) {
	var byHand struct {
		Proto *Bytes          `json:"$proto"`
		JSON  json.RawMessage `json:"$json"`
	}
	if json.Unmarshal(message, &byHand) == nil && byHand.Proto != nil {
		if codec == "json" {
			return byHand.JSON, nil
		}
		return byHand.Proto.b, nil
	}
	if codec == "json" {
		return message, nil
	}
	m, ok := method(path)
	if !ok {
		return nil, fmt.Errorf("%s has no schema", path)
	}
	d := dynamicpb.NewMessage(m.Output())
	if err := protojson.Unmarshal(message, d); err != nil {
		return nil, err
	}
	return proto.Marshal(d)
}

// decode reads a request message into protobuf's JSON.
func decode(path, codec string, b []byte) (any, error) {
	m, ok := method(path)
	if !ok {
		return nil, fmt.Errorf("%s has no schema", path)
	}
	d := dynamicpb.NewMessage(m.Input())
	var err error
	if codec == "json" {
		err = protojson.Unmarshal(b, d)
	} else {
		err = proto.Unmarshal(b, d)
	}
	if err != nil {
		return nil, err
	}
	out, err := protojson.Marshal(d)
	if err != nil {
		return nil, err
	}
	var v any
	return v, json.Unmarshal(out, &v)
}

// messages are the RPC messages of a request.
func (r *Request) messages() ([]any, error) {
	codec := codecOf(r.Header.Get("content-type"))
	if !strings.Contains(r.Header.Get("content-type"), "connect+") {
		v, err := decode(r.Path(), codec, r.Body)
		return []any{v}, err
	}
	var all []any
	for b := r.Body; len(b) > 0; {
		if len(b) < 5 || len(b) < 5+int(binary.BigEndian.Uint32(b[1:])) {
			return all, fmt.Errorf("a request envelope is cut")
		}
		n := 5 + int(binary.BigEndian.Uint32(b[1:]))
		v, err := decode(r.Path(), codec, b[5:n])
		if err != nil {
			return all, err
		}
		all, b = append(all, v), b[n:]
	}
	return all, nil
}

func envelope(flags byte, b []byte) []byte {
	head := binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(b)))
	return append(head, b...)
}

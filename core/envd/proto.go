package envd

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// field is one decoded protobuf field: bytes for length-delimited ones, n for
// varints.
type field struct {
	num   protowire.Number
	bytes []byte
	n     uint64
}

// eachField walks the fields of a message; types that none of our messages use
// are skipped. Bytes alias b.
func eachField(b []byte, visit func(field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		f := field{num: num}
		switch typ {
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			f.n, n = protowire.ConsumeVarint(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
			f.num = 0
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if f.num == 0 {
			continue
		}
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

func appendString(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return appendText(b, num, s)
}

// appendText writes s even when it is empty: a repeated or optional field.
func appendText(b []byte, num protowire.Number, s string) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return protowire.AppendString(b, s)
}

func appendBytes(b []byte, num protowire.Number, v []byte) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return protowire.AppendBytes(b, v)
}

func appendUint(b []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return appendVarint(b, num, v)
}

func appendVarint(b []byte, num protowire.Number, v uint64) []byte {
	b = protowire.AppendTag(b, num, protowire.VarintType)
	return protowire.AppendVarint(b, v)
}

func appendBool(b []byte, num protowire.Number, v bool) []byte {
	return appendUint(b, num, protowire.EncodeBool(v))
}

func appendMap(b []byte, num protowire.Number, m map[string]string) []byte {
	for _, k := range sortedKeys(m) {
		b = appendBytes(b, num, appendText(appendText(nil, 1, k), 2, m[k]))
	}
	return b
}

func parseMapEntry(b []byte, m map[string]string) error {
	var k, v string
	err := eachField(b, func(f field) error {
		switch f.num {
		case 1:
			k = string(f.bytes)
		case 2:
			v = string(f.bytes)
		}
		return nil
	})
	m[k] = v
	return err
}

package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// MaxBody is the size limit of a request to the control plane, in bytes.
const MaxBody = 4 << 20

// ReadBody reads the whole body of r, at most MaxBody bytes.
func ReadBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxBody))
	if err == nil {
		return body, nil
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, Faultf(http.StatusRequestEntityTooLarge, "the request body is larger than %d bytes", MaxBody)
	}
	return nil, Invalid("the request body could not be read")
}

// Decode reads one JSON object into v. Unknown fields are ignored, as E2B does
// with clients that are newer than the server; a field of the wrong type is a
// Fault that names it. An empty body is the empty object when optional is true.
func Decode(body []byte, optional bool, v any) error {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		if optional {
			return nil
		}
		return Invalid("the request body is empty: a JSON object is needed")
	}
	if body[0] != '{' {
		return Invalid("the request body must be a JSON object")
	}
	return jsonFault(json.Unmarshal(body, v))
}

func jsonFault(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return Invalid("field %q must be %s, not %s", kind.Field, typeName(kind.Type.String()), kind.Value)
	case errors.As(err, &syntax):
		return Invalid("the request body is not valid JSON (at byte %d)", syntax.Offset)
	default:
		return Invalid("the request body is not valid JSON")
	}
}

// typeName turns the name of a Go type into what a caller calls it.
func typeName(t string) string {
	switch {
	case t == "int" || t == "int64":
		return "an integer"
	case t == "float64":
		return "a number"
	case t == "bool":
		return "a boolean"
	case t == "string":
		return "a string"
	case len(t) > 1 && t[:2] == "[]":
		return "a list"
	default:
		return "an object"
	}
}

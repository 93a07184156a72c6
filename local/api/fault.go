package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Fault is an answer that says no. It is the body of every error of the
// control plane (e2b.md 1.1): the status stands in the body too, because E2B's
// JavaScript client decides by the body.
type Fault struct {
	// Code is the HTTP status.
	Code int `json:"code"`
	// Message is for the reader; it holds no secret.
	Message string `json:"message"`
	// Slug is E2B's error_code; "" = none.
	Slug string `json:"error_code,omitempty"`
	// Field is what of the request is wrong, where Message begins with it; our own
	// clients name it as their language does.
	Field string `json:"field,omitempty"`
	// Known are the names that there are, when one that was given is not.
	Known []string `json:"known,omitempty"`
}

// Error returns the message.
func (f *Fault) Error() string { return f.Message }

// Faultf makes a Fault with the given HTTP status.
func Faultf(code int, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes a 400.
func Invalid(format string, args ...any) *Fault {
	return Faultf(http.StatusBadRequest, format, args...)
}

// InvalidField makes a 400 about one field; its message begins with the field.
func InvalidField(field, format string, args ...any) *Fault {
	f := Invalid(format, args...)
	f.Field, f.Message = field, field+f.Message
	return f
}

// Unsupported makes the answer to something that E2B's service does and this
// server does not. feature completes the sentence "the local provider ...".
func Unsupported(feature string) *Fault {
	return Faultf(http.StatusNotImplemented, "the local provider %s", feature)
}

// WriteFault sends f.
func WriteFault(w http.ResponseWriter, f *Fault) { WriteJSON(w, f.Code, f) }

// WriteJSON sends v with the given status. v must be one of this package's
// messages: a value that cannot be encoded is answered with a bare 500.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// A client that has gone away is no business of the handler's.
	_, _ = w.Write(body)
}

package interpreter

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// field is a key of a result line with the MIME type that it holds.
type field struct{ key, mime string }

// fields are E2B's (e2b.md 5), in the order in which they are written.
func fields() []field {
	return []field{
		{"text", "text/plain"},
		{"html", "text/html"},
		{"markdown", "text/markdown"},
		{"svg", "image/svg+xml"},
		{"png", "image/png"},
		{"jpeg", "image/jpeg"},
		{"pdf", "application/pdf"},
		{"latex", "text/latex"},
		{"json", "application/json"},
		{"javascript", "application/javascript"},
		{"data", "e2b/data"},
		{"chart", "e2b/chart"},
	}
}

// display is the content of display_data, update_display_data and execute_result.
type display struct {
	Data      map[string]json.RawMessage `json:"data"`
	Transient struct {
		ID string `json:"display_id"`
	} `json:"transient"`
}

// resultLine is what a cell shows: its value (main), or what it displays. An
// update takes the place of what was displayed with the same id.
func resultLine(d *display, main, update bool) []byte {
	b := append([]byte(nil), `{"type":"result"`...)
	add := func(key string, raw []byte) {
		b = append(b, ',')
		b = asciiText(b, key)
		b = append(b, ':')
		b = asciiJSON(b, raw)
	}
	rest := maps.Clone(d.Data)
	for _, f := range fields() {
		raw, ok := rest[f.mime]
		if !ok {
			continue
		}
		delete(rest, f.mime)
		if f.mime == "text/plain" {
			raw = unquoted(raw)
		}
		add(f.key, joined(f.mime, raw))
	}
	if len(rest) > 0 {
		add("extra", extra(rest))
	}
	if d.Transient.ID != "" {
		id, _ := json.Marshal(d.Transient.ID)
		add("display_id", id)
	}
	if update {
		add("update", []byte("true"))
	}
	if main {
		add("is_main_result", []byte("true"))
	} else {
		add("is_main_result", []byte("false"))
	}
	return append(b, '}', '\n')
}

// extra is an object of everything that has no key of its own.
func extra(rest map[string]json.RawMessage) []byte {
	b := []byte{'{'}
	for i, mime := range slices.Sorted(maps.Keys(rest)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = asciiText(b, mime)
		b = append(b, ':')
		b = append(b, joined(mime, rest[mime])...)
	}
	return append(b, '}')
}

// unquoted takes the quotes off a text that has them at both ends, as E2B does:
// the value 'a' of a cell is shown as a.
func unquoted(raw json.RawMessage) json.RawMessage {
	var s string
	if len(raw) < 4 || json.Unmarshal(raw, &s) != nil || len(s) < 2 {
		return raw
	}
	if q := s[0]; (q != '\'' && q != '"') || s[len(s)-1] != q {
		return raw
	}
	return asciiText(nil, s[1:len(s)-1])
}

// joined gives one text for the list of lines that some kernels send in its
// place. What is JSON by its type stays.
func joined(mime string, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '[' || strings.HasSuffix(mime, "json") || strings.HasPrefix(mime, "e2b/") {
		return raw
	}
	var lines []string
	if json.Unmarshal(raw, &lines) != nil {
		return raw
	}
	return asciiText(nil, strings.Join(lines, ""))
}

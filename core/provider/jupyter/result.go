package jupyter

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// fields are the names of results' forms, with the MIME types that a kernel gives.
var fields = [][2]string{
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

// display is what display_data, update_display_data and execute_result say.
type display struct {
	Data      map[string]json.RawMessage `json:"data"`
	Transient struct {
		ID string `json:"display_id"`
	} `json:"transient"`
}

// object is the result as every provider gives it.
func (d *display) object(main, update bool) []byte {
	b := []byte{'{'}
	add := func(name string, raw []byte) {
		b = append(append(append(b, text(name)...), ':'), raw...)
		b = append(b, ',')
	}
	rest := maps.Clone(d.Data)
	for _, f := range fields {
		raw, ok := rest[f[1]]
		if !ok {
			continue
		}
		delete(rest, f[1])
		if f[0] == "text" {
			raw = unquoted(raw)
		}
		add(f[0], joined(f[1], raw))
	}
	if len(rest) > 0 {
		add("extra", extra(rest))
	}
	if d.Transient.ID != "" {
		add("display_id", text(d.Transient.ID))
	}
	if update {
		add("update", []byte("true"))
	}
	if main {
		return append(b, `"is_main_result":true}`...)
	}
	return append(b, `"is_main_result":false}`...)
}

// extra is an object of everything that has no name of its own.
func extra(rest map[string]json.RawMessage) []byte {
	b := []byte{'{'}
	for i, mime := range slices.Sorted(maps.Keys(rest)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, text(mime)...), ':'), joined(mime, rest[mime])...)
	}
	return append(b, '}')
}

// text writes a string as JSON.
func text(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`)
	}
	return b
}

// unquoted takes the quotes off the text of a string, as all providers do.
func unquoted(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) != nil || len(s) < 2 || (s[0] != '\'' && s[0] != '"') || s[len(s)-1] != s[0] {
		return raw
	}
	return text(s[1 : len(s)-1])
}

// joined gives one text for the list of lines that some kernels send. What is JSON
// by its type stays.
func joined(mime string, raw json.RawMessage) json.RawMessage {
	var lines []string
	if strings.HasSuffix(mime, "json") || strings.HasPrefix(mime, "e2b/") || len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &lines) != nil {
		return raw
	}
	return text(strings.Join(lines, ""))
}

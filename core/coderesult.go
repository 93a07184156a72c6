package core

import (
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Result is one value that code showed: the value of its last line, or what a
// display call showed. It may have several forms; an absent one is empty.
type Result struct {
	Text       string          // text/plain
	HTML       string          // text/html
	Markdown   string          // text/markdown
	SVG        string          // image/svg+xml
	PNG        string          // image/png in base64; see Bytes
	JPEG       string          // image/jpeg in base64
	PDF        string          // application/pdf in base64
	LaTeX      string          // text/latex
	JavaScript string          // application/javascript
	JSON       json.RawMessage // application/json
	Data       json.RawMessage // of a DataFrame: its columns
	Chart      Chart           // what a figure shows; nil = it is none
	// Extra are all other forms, by MIME type, and whatever else the service said of
	// the result, by its name.
	Extra map[string]json.RawMessage

	// IsMainResult tells the value of the last line from what was displayed.
	IsMainResult bool
	// Raw is everything as it came, by its name on the wire. NaN and infinity, which
	// JSON does not have, are null.
	Raw map[string]json.RawMessage

	formats []string
}

// Formats are the names of the forms that there are: text, html, markdown, svg,
// png, jpeg, pdf, latex, json, javascript, data, chart, and those of Extra.
func (r *Result) Formats() []string { return slices.Clone(r.formats) }

// Bytes is a form as bytes: png, jpeg and pdf without base64, others as UTF-8.
// Errors: E3003 when the result has no such form, E5005 when it is no base64.
func (r *Result) Bytes(format string) ([]byte, error) {
	raw := r.Raw[format]
	if raw == nil {
		raw = r.Extra[format]
	}
	if raw == nil {
		return nil, fault.New(fault.CodeCodeExecution, "the result has no form %q: it has %v", format, r.formats)
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw, nil
	}
	switch format {
	case "png", "jpeg", "pdf":
		b, err := base64.StdEncoding.DecodeString(withoutSpace(text))
		if err != nil {
			return nil, fault.New(fault.CodeProtocol, "the peer broke the protocol: the %s is no base64", format).Because(err)
		}
		return b, nil
	}
	return []byte(text), nil
}

// withoutSpace: kernels break base64 into lines.
func withoutSpace(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; c > ' ' {
			b = append(b, c)
		}
	}
	return string(b)
}

// String is the text form, or which forms there are.
func (r *Result) String() string {
	if r.Text != "" || len(r.formats) == 0 {
		return r.Text
	}
	b, _ := json.Marshal(r.formats)
	return "Result(" + string(b) + ")"
}

// MarshalJSON writes the result as it came.
func (r *Result) MarshalJSON() ([]byte, error) { return json.Marshal(r.Raw) }

// known are the forms that have a field, in the order of Formats.
var known = []string{"text", "html", "markdown", "svg", "png", "jpeg", "pdf", "latex", "json", "javascript", "data", "chart"}

// ReadResult reads the object of a result, for hosts that keep results themselves.
// Errors: E5005.
func ReadResult(object []byte) (*Result, error) {
	r := &Result{}
	if err := json.Unmarshal(object, &r.Raw); err != nil {
		return nil, fault.New(fault.CodeProtocol, "the peer broke the protocol: a result is no JSON object").Because(err)
	}
	texts := map[string]*string{
		"text": &r.Text, "html": &r.HTML, "markdown": &r.Markdown, "svg": &r.SVG, "png": &r.PNG, "jpeg": &r.JPEG, "pdf": &r.PDF,
		"latex": &r.LaTeX, "javascript": &r.JavaScript,
	}
	for _, name := range known {
		raw, ok := r.Raw[name]
		if !ok || string(raw) == "null" {
			continue
		}
		if to := texts[name]; to != nil && json.Unmarshal(raw, to) != nil {
			*to = string(raw) // no text: as JSON
		}
		r.formats = append(r.formats, name)
	}
	r.JSON, r.Data = given(r.Raw["json"]), given(r.Raw["data"])
	if chart := given(r.Raw["chart"]); chart != nil {
		r.Chart = readChart(chart)
	}
	r.IsMainResult = string(r.Raw["is_main_result"]) == "true"
	r.extra()
	return r, nil
}

func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// extra gathers what has no field.
func (r *Result) extra() {
	r.Extra = map[string]json.RawMessage{}
	if json.Unmarshal(r.Raw["extra"], &r.Extra) != nil || r.Extra == nil {
		r.Extra = map[string]json.RawMessage{}
	}
	for name, raw := range r.Raw {
		if name != "is_main_result" && name != "extra" && !slices.Contains(known, name) {
			r.Extra[name] = raw
		}
	}
	var names []string
	for name := range r.Extra {
		names = append(names, name)
	}
	slices.Sort(names)
	r.formats = append(r.formats, names...)
}

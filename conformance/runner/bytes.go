package runner

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bytes are written as text, or as {"base64"}, {"hex"}, {"repeat": [bytes, n]}
// or {"join": [bytes...]}.
type Bytes struct{ b []byte }

// UnmarshalJSON reads any of the forms.
func (b *Bytes) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		b.b = []byte(text)
		return nil
	}
	var form struct {
		Base64 *string `json:"base64"`
		Hex    *string `json:"hex"`
		Repeat []json.RawMessage
		Join   []Bytes
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return err
	}
	return b.build(form.Base64, form.Hex, form.Repeat, form.Join)
}

func (b *Bytes) build(b64, hex *string, repeat []json.RawMessage, join []Bytes) (err error) {
	switch {
	case b64 != nil:
		b.b, err = base64.StdEncoding.DecodeString(*b64)
	case hex != nil:
		_, err = fmt.Sscanf(strings.ReplaceAll(*hex, " ", ""), "%x", &b.b)
		if *hex == "" {
			b.b, err = nil, nil
		}
	case len(repeat) == 2:
		var of Bytes
		var n int
		if err = json.Unmarshal(repeat[0], &of); err == nil {
			err = json.Unmarshal(repeat[1], &n)
		}
		b.b = []byte(strings.Repeat(string(of.b), n))
	default:
		for _, j := range join {
			b.b = append(b.b, j.b...)
		}
	}
	return err
}

// MarshalJSON is used when a case is expanded.
func (b Bytes) MarshalJSON() ([]byte, error) {
	if text := string(b.b); utf8.ValidString(text) && !strings.Contains(text, "${") && strings.IndexFunc(text, unicode.IsControl) < 0 {
		return json.Marshal(text)
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(b.b)})
}

// Get gives the bytes.
func (b *Bytes) Get() []byte { return b.get() }

func (b *Bytes) get() []byte {
	if b == nil {
		return nil
	}
	return b.b
}

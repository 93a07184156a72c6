package interpreter

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Lines are JSON objects of ASCII alone: whatever is beyond is escaped. So no
// client can break a character in two, or take one for the end of a line.

// asciiJSON appends valid JSON as one line of ASCII. Line breaks and
// tabs between tokens are left out.
func asciiJSON(dst, raw []byte) []byte {
	if bytes.Contains(raw, []byte(`\ud`)) || bytes.Contains(raw, []byte(`\uD`)) {
		raw = wholeEscapes(raw)
	}
	for len(raw) > 0 {
		n := plain(raw)
		dst = append(dst, raw[:n]...)
		raw = raw[n:]
		if len(raw) == 0 {
			break
		}
		r, size := utf8.DecodeRune(raw)
		raw = raw[size:]
		if r == '\n' || r == '\r' || r == '\t' {
			continue
		}
		dst = escape(dst, r)
	}
	return dst
}

// plain is how many bytes at the beginning can stay as they are.
func plain(raw []byte) int {
	for i, c := range raw {
		if c >= utf8.RuneSelf || c < ' ' {
			return i
		}
	}
	return len(raw)
}

func escape(dst []byte, r rune) []byte {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return escape(escape(dst, high), low)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// wholeEscapes replaces escapes of half a surrogate pair, which many readers of
// JSON refuse or cannot print.
func wholeEscapes(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 || n+1 >= len(raw) {
			return append(out, raw...)
		}
		out = append(out, raw[:n]...)
		raw = raw[n:]
		size := 2
		switch unit := codeUnit(raw); {
		case unit < 0:
		case !utf16.IsSurrogate(unit):
			size = 6
		case utf16.DecodeRune(unit, codeUnit(raw[6:])) != utf8.RuneError:
			size = 12
		default:
			out = append(out, `\ufffd`...)
			raw = raw[6:]
			continue
		}
		out = append(out, raw[:size]...)
		raw = raw[size:]
	}
	return out
}

// codeUnit is what an escape like \u00e9 at the beginning of raw stands for, -1 =
// there is none.
func codeUnit(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// asciiText appends a text as JSON.
func asciiText(dst []byte, s string) []byte {
	raw, err := json.Marshal(s)
	if err != nil {
		return append(dst, `""`...)
	}
	return asciiJSON(dst, raw)
}

// errorLine is how an execution failed.
func errorLine(name, value, traceback string) []byte {
	b := append([]byte(nil), `{"type":"error","name":`...)
	b = asciiText(b, name)
	b = append(b, `,"value":`...)
	b = asciiText(b, value)
	b = append(b, `,"traceback":`...)
	b = asciiText(b, traceback)
	return append(b, '}', '\n')
}

// streamLine is a piece of stdout or stderr. text is JSON.
func streamLine(name string, text []byte, timestamp string) []byte {
	b := make([]byte, 0, len(text)+len(timestamp)+64)
	b = append(b, `{"type":"`...)
	b = append(b, name...)
	b = append(b, `","text":`...)
	b = asciiJSON(b, text)
	b = append(b, `,"timestamp":`...)
	b = asciiText(b, timestamp)
	return append(b, '}', '\n')
}

// Lines that are always the same.
const (
	keepaliveLine = `{"type":"keepalive"}` + "\n"
	endLine       = `{"type":"end_of_execution"}` + "\n"
)

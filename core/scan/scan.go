// Package scan reads and writes the JSON that hosts and the core exchange in every
// call, without reflection: encoding/json takes more code and time than the rest of
// a small call. It reads what is plain and refuses the rest; whoever calls it then
// asks encoding/json, which is right about everything.
package scan

import (
	"strconv"
	"unicode/utf8"
)

// Text is JSON that is still to be read.
type Text string

// Space skips white space.
func (t *Text) Space() {
	s := *t
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\n' || s[0] == '\t' || s[0] == '\r') {
		s = s[1:]
	}
	*t = s
}

// Take takes c, after white space; false when something else comes.
func (t *Text) Take(c byte) bool {
	t.Space()
	if len(*t) == 0 || (*t)[0] != c {
		return false
	}
	*t = (*t)[1:]
	return true
}

// End tells whether only white space is left.
func (t *Text) End() bool {
	t.Space()
	return len(*t) == 0
}

// String takes a string. Refused are escapes by number and broken UTF-8.
func (t *Text) String() (string, bool) {
	if !t.Take('"') {
		return "", false
	}
	s := string(*t)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			*t = Text(s[i+1:])
			return s[:i], utf8.ValidString(s[:i])
		case c == '\\':
			return t.escaped(i)
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped is String for one whose first escape is at i.
func (t *Text) escaped(i int) (string, bool) {
	s := string(*t)
	b := append(make([]byte, 0, 2*i+16), s[:i]...)
	for i < len(s) {
		c := s[i]
		i++
		switch {
		case c == '"':
			*t = Text(s[i:])
			return string(b), utf8.Valid(b)
		case c < ' ':
			return "", false
		case c == '\\':
			if i == len(s) {
				return "", false
			}
			if c = unescaped(s[i]); c == 0 {
				return "", false
			}
			i++
		}
		b = append(b, c)
	}
	return "", false
}

// unescaped is what stands behind a backslash; 0 = nothing simple.
func unescaped(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return 0
}

// Int takes a whole number.
func (t *Text) Int() (int64, bool) {
	t.Space()
	s := *t
	n := 0
	for n < len(s) && (s[n] == '-' || '0' <= s[n] && s[n] <= '9') {
		n++
	}
	digits := string(s[:n])
	if n < len(s) && (s[n] == '.' || s[n] == 'e' || s[n] == 'E') || leadingZero(digits) {
		return 0, false
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	*t = s[n:]
	return v, err == nil
}

func leadingZero(digits string) bool {
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	return len(digits) > 1 && digits[0] == '0'
}

// Bool takes true or false.
func (t *Text) Bool() (value, ok bool) {
	t.Space()
	switch {
	case len(*t) >= 4 && (*t)[:4] == "true":
		*t = (*t)[4:]
		return true, true
	case len(*t) >= 5 && (*t)[:5] == "false":
		*t = (*t)[5:]
		return false, true
	}
	return false, false
}

// Object takes an object: field takes the value of each key, or refuses.
func (t *Text) Object(field func(key string, t *Text) bool) bool {
	if !t.Take('{') {
		return false
	}
	if t.Take('}') {
		return true
	}
	for {
		key, ok := t.String()
		if !ok || !t.Take(':') || !field(key, t) {
			return false
		}
		if !t.Take(',') {
			return t.Take('}')
		}
	}
}

// Array takes an array: element takes each of its values, or refuses.
func (t *Text) Array(element func(t *Text) bool) bool {
	if !t.Take('[') {
		return false
	}
	if t.Take(']') {
		return true
	}
	for {
		if !element(t) {
			return false
		}
		if !t.Take(',') {
			return t.Take(']')
		}
	}
}

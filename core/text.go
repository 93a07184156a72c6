package core

import (
	"strings"
	"unicode/utf8"
)

// TextDecoder turns a stream of bytes into text, whatever the pieces it comes
// in: a character cut in two waits for its rest; broken bytes become U+FFFD.
// Use one a stream. The zero value is ready.
type TextDecoder struct{ rest []byte }

// Decode gives the text that is complete.
func (d *TextDecoder) Decode(b []byte) string {
	if len(d.rest) > 0 {
		b = append(d.rest, b...)
		d.rest = nil
	}
	whole := len(b) - unfinished(b)
	if whole < len(b) {
		d.rest = append([]byte(nil), b[whole:]...)
	}
	return toText(b[:whole])
}

// Flush gives what is left, at every kind of end.
func (d *TextDecoder) Flush() string {
	s := toText(d.rest)
	d.rest = nil
	return s
}

// unfinished counts the bytes at the end of b that begin a character without
// ending it.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// toText replaces each broken sequence by one U+FFFD, as the WHATWG decoder does.
func toText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var s strings.Builder
	s.Grow(len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = brokenPrefix(b)
		}
		s.WriteRune(r)
		b = b[n:]
	}
	return s.String()
}

// brokenPrefix is the length of the longest start of a character that b begins
// with, at least 1: that many bytes become one U+FFFD.
func brokenPrefix(b []byte) int {
	for n := min(3, len(b)); n > 1; n-- {
		if !utf8.FullRune(b[:n]) {
			return n
		}
	}
	return 1
}

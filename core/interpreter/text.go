package interpreter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

var (
	errCutString = errors.New("a string that ends with its line")
	errEscape    = errors.New("an escape that JSON does not have")
)

// text reads a JSON string piece by piece. Its state lies between two pieces.
type text struct {
	plain bool // write characters; else JSON
	deep  int  // inside an escape: 1 after the backslash, 2 to 5 in the digits
	unit  rune // the digits so far
	high  rune // the first half of a pair, whose second has not come
	wide  [utf8.UTFMax]byte
	nWide int
}

// read takes b up to the end of the string, or as far as dst has room. done says
// that the string has ended. WebAssembly runs loops over single bytes slowly: what
// needs no change is found and copied in runs. Characters that are broken stay so
// in text, whose reader replaces them.
func (t *text) read(dst, b []byte, room int) (out []byte, used int, done bool, err error) {
	quote, slash := -1, -1 // where the next ones are; quote, or the end, when there is none
	for used < len(b) && len(dst) < room {
		if t.deep > 0 || t.nWide > 0 {
			var n int
			if dst, n, err = t.finish(dst, b[used:]); err != nil {
				return dst, used, false, err
			}
			used += n
			continue
		}
		if quote < used {
			quote = index(b, used, len(b), '"')
		}
		if slash < used { // as index does, without its call: there may be very many
			if slash = quote; slash > used {
				if n := bytes.IndexByte(b[used:quote], '\\'); n >= 0 {
					slash = used + n
				}
			}
		}
		stop := min(slash, used+room-len(dst))
		n := stop - used
		if !t.plain {
			n = plain(b[used:stop])
		}
		if n > 0 {
			if t.high != 0 {
				dst = t.settled(dst)
			}
			dst = append(dst, b[used:used+n]...)
			used += n
		}
		switch {
		case used == len(b):
		case used < stop:
			if dst, n, err = t.odd(t.settled(dst), b[used:stop], room); err != nil {
				return dst, used, false, err
			}
			used += n
		case used < slash: // no room
		case used == quote:
			return t.settled(dst), used + 1, true, nil
		default:
			if t.plain && t.high == 0 && used+1 < len(b) && unescaped[b[used+1]] != 0 { // most of them
				dst = append(dst, unescaped[b[used+1]])
				used += 2
				continue
			}
			if dst, n, err = t.escaped(dst, b[used:], room); err != nil {
				return dst, used, false, err
			}
			used += n
		}
	}
	return dst, used, false, nil
}

// skip reads b up to the end of the string, and keeps nothing.
func (t *text) skip(b []byte) (used int, done bool, err error) {
	var scratch [16]byte
	quote := -1
	for used < len(b) {
		if t.deep > 0 {
			if _, err = t.escape(scratch[:0], b[used]); err != nil {
				return used, false, err
			}
			used++
			continue
		}
		if quote < used {
			quote = index(b, used, len(b), '"')
		}
		slash := index(b, used, quote, '\\')
		if newline := index(b, used, slash, '\n'); newline < slash {
			return newline, false, errCutString
		}
		used = slash
		switch {
		case used == len(b):
		case used == quote:
			return used + 1, true, nil
		default:
			used++
			t.deep = 1
		}
	}
	return used, false, nil
}

// index is where c is next in b[from:to], or to.
func index(b []byte, from, to int, c byte) int {
	if i := bytes.IndexByte(b[from:to], c); i >= 0 {
		return from + i
	}
	return to
}

// Of eight bytes that are plain, none has a bit of high set, and none loses its
// own when low is taken away.
const (
	low  = 0x2020202020202020
	high = 0x8080808080808080
)

// plain counts the bytes at the beginning of b that are neither control characters
// nor of characters of several bytes. Pictures are all plain: several words are
// looked at together.
func plain(b []byte) int {
	n := 0
	for ; len(b)-n >= 32; n += 32 {
		p := (*[32]byte)(b[n:])
		w, x := binary.LittleEndian.Uint64(p[0:]), binary.LittleEndian.Uint64(p[8:])
		y, z := binary.LittleEndian.Uint64(p[16:]), binary.LittleEndian.Uint64(p[24:])
		if (w|x|y|z|(w-low)|(x-low)|(y-low)|(z-low))&high != 0 {
			break
		}
	}
	for ; len(b)-n >= 8; n += 8 {
		if w := binary.LittleEndian.Uint64(b[n:]); (w|(w-low))&high != 0 {
			break
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// odd takes what is not plain at the beginning of b.
func (t *text) odd(dst, b []byte, room int) (out []byte, used int, err error) {
	for used < len(b) && len(dst) < room && t.nWide == 0 {
		c := b[used]
		switch {
		case c >= utf8.RuneSelf:
			n := 0
			dst, n = t.character(dst, b[used:])
			used += n
		case c == '\n':
			return dst, used, errCutString
		case c < ' ':
			dst = control(dst, c)
			used++
		default:
			return dst, used, nil
		}
	}
	return dst, used, nil
}

// finish goes on with an escape or character that was cut.
func (t *text) finish(dst, b []byte) (out []byte, used int, err error) {
	if t.nWide > 0 {
		dst, used = t.continued(dst, b)
		return dst, used, nil
	}
	dst, err = t.escape(dst, b[0])
	return dst, 1, err
}

// escaped takes the escapes at the beginning of b, as far as they are there.
func (t *text) escaped(dst, b []byte, room int) (out []byte, used int, err error) {
	const unicode = len(`\u0000`)
	for len(b)-used >= 2 && b[used] == '\\' && len(dst) < room {
		if b[used+1] != 'u' {
			if dst, err = t.short(dst, b[used+1]); err != nil {
				return dst, used, err
			}
			used += 2
			continue
		}
		if len(b)-used < unicode {
			break
		}
		p := (*[unicode]byte)(b[used:])
		d0, d1, d2, d3 := hexadecimal[p[2]], hexadecimal[p[3]], hexadecimal[p[4]], hexadecimal[p[5]]
		if d0 == 0 || d1 == 0 || d2 == 0 || d3 == 0 {
			return dst, used, errEscape
		}
		dst = t.utf16(dst, rune(d0-1)<<12|rune(d1-1)<<8|rune(d2-1)<<4|rune(d3-1))
		used += unicode
	}
	if used == 0 {
		t.deep, used = 1, 1
	}
	return dst, used, nil
}

// hexadecimal are the values of digits, and one more.
var hexadecimal = [256]uint8{
	'0': 1, '1': 2, '2': 3, '3': 4, '4': 5, '5': 6, '6': 7, '7': 8, '8': 9, '9': 10,
	'a': 11, 'b': 12, 'c': 13, 'd': 14, 'e': 15, 'f': 16, 'A': 11, 'B': 12, 'C': 13, 'D': 14, 'E': 15, 'F': 16,
}

// short takes the character of a short escape.
func (t *text) short(dst []byte, c byte) ([]byte, error) {
	short := unescaped[c]
	if short == 0 {
		return dst, errEscape
	}
	dst = t.settled(dst)
	if t.plain {
		return append(dst, short), nil
	}
	return append(dst, '\\', c), nil
}

// character takes one of several bytes; one that b cuts waits for its rest.
func (t *text) character(dst, b []byte) (out []byte, used int) {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		if !utf8.FullRune(b) {
			t.nWide = copy(t.wide[:], b)
			return dst, len(b)
		}
		n = broken(b)
	}
	return utf8.AppendRune(dst, r), n
}

// continued adds bytes to a character that was cut.
func (t *text) continued(dst, b []byte) (out []byte, used int) {
	had := t.nWide
	n := copy(t.wide[had:], b)
	whole := t.wide[:had+n]
	t.nWide = 0
	if dst, used = t.character(dst, whole); t.nWide > 0 {
		return dst, n
	}
	return dst, max(used-had, 0)
}

// broken is the length of the longest start of a character that b begins with,
// at least 1: that many bytes become one U+FFFD.
func broken(b []byte) int {
	for n := min(3, len(b)); n > 1; n-- {
		if !utf8.FullRune(b[:n]) {
			return n
		}
	}
	return 1
}

const digits = "0123456789abcdef"

// control writes a character that JSON wants to see escaped.
func control(dst []byte, c byte) []byte {
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// settled ends a pair whose second half does not come.
func (t *text) settled(dst []byte) []byte {
	if t.nWide > 0 {
		t.nWide = 0
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	if t.high != 0 {
		t.high = 0
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst
}

// unescaped are the characters of the short escapes.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape takes a byte after a backslash.
func (t *text) escape(dst []byte, c byte) ([]byte, error) {
	if t.deep == 1 {
		if c == 'u' {
			t.deep, t.unit = 2, 0
			return dst, nil
		}
		t.deep = 0
		return t.short(dst, c)
	}
	digit := hexadecimal[c]
	if digit == 0 {
		return dst, errEscape
	}
	t.unit = t.unit<<4 | rune(digit-1)
	if t.deep++; t.deep < 6 {
		return dst, nil
	}
	t.deep = 0
	return t.utf16(dst, t.unit), nil
}

// utf16 takes one unit of UTF-16. Half of a pair alone is no character.
func (t *text) utf16(dst []byte, unit rune) []byte {
	if t.high == 0 && 0x800 <= unit && unit < 0xd800 {
		return append(dst, byte(0xe0|unit>>12), byte(0x80|unit>>6&0x3f), byte(0x80|unit&0x3f)) // most of them
	}
	switch {
	case t.high != 0 && 0xdc00 <= unit && unit < 0xe000:
		r := 0x10000 + (t.high-0xd800)<<10 + (unit - 0xdc00)
		t.high = 0
		return utf8.AppendRune(dst, r)
	case 0xd800 <= unit && unit < 0xdc00:
		dst = t.settled(dst)
		t.high = unit
		return dst
	case 0xdc00 <= unit && unit < 0xe000:
		return utf8.AppendRune(t.settled(dst), utf8.RuneError)
	}
	dst = t.settled(dst)
	if !t.plain && (unit < ' ' || unit == '"' || unit == '\\') {
		return append(dst, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
	}
	return utf8.AppendRune(dst, unit)
}

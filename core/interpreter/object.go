package interpreter

import (
	"errors"
)

// Where an object stands between two bytes.
type state uint8

const (
	between     state = iota // before an object
	wantKey                  // after {, at the top
	inKey                    // in the string of a key at the top
	wantColon                // after a key at the top
	wantMember               // after a comma, at the top
	wantValue                // before a value
	inString                 // in a value's string
	inToken                  // in a number or a word
	afterValue               // after a value inside another
	wantInner                // after { inside a value: a key, or its end
	wantKeyIn                // after a comma in an object inside a value
	inKeyIn                  // in the string of such a key
	wantColonIn              // after such a key
	wantItem                 // after [: a value, or its end
	afterTop                 // after a value at the top
)

const (
	deepest    = 500     // that values may lie in each other
	longestKey = 1 << 10 // at the top
	longToken  = 1 << 20 // a number
	// longestWord is the longest number that every language reads as one; a longer
	// one is given as a string.
	longestWord = 4000
)

var (
	errSyntax  = errors.New("text of another kind")
	errDeep    = errors.New("values that lie too deep in each other")
	errTooLong = errors.New("a key or number that is too long")
)

// fate is what becomes of a value.
type fate uint8

const (
	skipped  fate = iota // read, and left
	copied               // written to dst as JSON
	unquoted             // its characters are written to dst; a value that is no string is left
)

// object reads a stream of JSON objects piece by piece. For each member at the top
// it asks its owner what to do; space between and around values is left out.
// NaN and infinities, which JSON does not have and Python writes, become null;
// what is no UTF-8 becomes U+FFFD.
type object struct {
	owner owner

	at    state
	in    []byte // of each value that is open: { or [
	str   text
	key   []byte
	token []byte
	fate  fate
	dst   []byte // what is written
	room  int    // of dst, before it is given to the owner
}

// owner decides and takes.
type owner interface {
	begin()
	// member says what becomes of the value of key.
	member(key []byte) (fate, error)
	// full takes dst, which has reached its room, and gives the new one.
	full(dst []byte) ([]byte, error)
	// value says that the value of the last key is complete.
	value() error
	end() error
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// one reads b up to the end of an object, or to its own. used is how far it was
// read before an error.
func (o *object) one(b []byte) (used int, err error) {
	for used < len(b) {
		if o.at == inString || o.at == inKey || o.at == inKeyIn {
			n, err := o.inText(b[used:])
			used += n
			if err != nil {
				return used, err
			}
			continue
		}
		c := b[used]
		if o.at == inToken {
			if !ends(c) {
				if len(o.token) >= longToken {
					return used, errTooLong
				}
				o.token = append(o.token, c)
				used++
				continue
			}
			if err := o.endToken(); err != nil {
				return used, err
			}
		}
		used++
		if space(c) {
			continue
		}
		if err := o.step(c); err != nil {
			return used - 1, err
		}
		if o.at == between {
			return used, nil
		}
	}
	return used, nil
}

// ends tells whether c is after a number or word.
func ends(c byte) bool { return space(c) || c == ',' || c == '}' || c == ']' || c == ':' }

// inText reads on in a string.
func (o *object) inText(b []byte) (used int, err error) {
	if o.at == inKey {
		return o.inTopKey(b)
	}
	if o.fate == skipped {
		return o.skipText(b)
	}
	var done bool
	var n int
	for used < len(b) && !done {
		if len(o.dst) >= o.room {
			if o.dst, err = o.owner.full(o.dst); err != nil {
				return used, err
			}
		}
		o.dst, n, done, err = o.str.read(o.dst, b[used:], o.room)
		used += n
		if err != nil {
			return used, err
		}
	}
	if done {
		err = o.endText()
	}
	return used, err
}

// skipText reads what nobody wants.
func (o *object) skipText(b []byte) (used int, err error) {
	used, done, err := o.str.skip(b)
	if done {
		err = o.endText()
	}
	return used, err
}

func (o *object) inTopKey(b []byte) (used int, err error) {
	key, used, done, err := o.str.read(o.key, b, longestKey)
	o.key = key
	switch {
	case err != nil:
		return used, err
	case done:
		o.at = wantColon
	case len(key) >= longestKey:
		return used, errTooLong
	}
	return used, nil
}

func (o *object) endText() error {
	if o.at == inKeyIn {
		o.at = wantColonIn
		o.write('"')
		return nil
	}
	if o.fate != unquoted {
		o.write('"')
	}
	return o.endValue()
}

func (o *object) write(c byte) {
	if o.fate == copied {
		o.dst = append(o.dst, c)
	}
}

func (o *object) beginText(at state) {
	o.at, o.str = at, text{plain: o.fate == unquoted}
	if at != inKey {
		o.write('"')
	}
}

// step takes one byte that is neither space nor inside a string or token.
func (o *object) step(c byte) error {
	switch o.at {
	case between:
		if c != '{' {
			return errSyntax
		}
		o.at = wantKey
		o.owner.begin()
	case wantKey, wantMember:
		return o.topKey(c)
	case wantColon:
		return o.topValue(c)
	case afterTop:
		switch c {
		case ',':
			o.at = wantMember
		case '}':
			o.at = between
			return o.owner.end()
		default:
			return errSyntax
		}
	case wantValue:
		return o.beginValue(c)
	default:
		return o.inner(c)
	}
	return nil
}

func (o *object) topKey(c byte) error {
	switch {
	case c == '"':
		o.key, o.at, o.str = o.key[:0], inKey, text{plain: true}
	case c == '}' && o.at == wantKey:
		o.at = between
		return o.owner.end()
	default:
		return errSyntax
	}
	return nil
}

func (o *object) topValue(c byte) (err error) {
	if c != ':' {
		return errSyntax
	}
	o.at = wantValue
	o.fate, err = o.owner.member(o.key)
	return err
}

// inner is a step inside a value.
func (o *object) inner(c byte) error {
	switch {
	case o.at == wantItem && c == ']', o.at == wantInner && c == '}':
		return o.close(c)
	case o.at == wantItem:
		return o.beginValue(c)
	case (o.at == wantInner || o.at == wantKeyIn) && c == '"':
		o.beginText(inKeyIn)
	case o.at == wantColonIn && c == ':':
		o.write(c)
		o.at = wantValue
	case o.at == afterValue && c == ',':
		o.write(c)
		o.at = wantValue
		if o.in[len(o.in)-1] == '{' {
			o.at = wantKeyIn
		}
	case o.at == afterValue:
		return o.close(c)
	default:
		return errSyntax
	}
	return nil
}

func (o *object) beginValue(c byte) error {
	if o.fate == unquoted && c != '"' {
		o.fate = skipped // an odd one: null, or a list
	}
	switch {
	case c == '"':
		o.beginText(inString)
	case c == '{' || c == '[':
		if len(o.in) >= deepest {
			return errDeep
		}
		o.in = append(o.in, c)
		o.write(c)
		o.at = wantInner
		if c == '[' {
			o.at = wantItem
		}
	case ends(c):
		return errSyntax
	default:
		o.at, o.token = inToken, append(o.token[:0], c)
	}
	return nil
}

// close ends the innermost list or object.
func (o *object) close(c byte) error {
	opened := o.in[len(o.in)-1]
	if (opened == '{') != (c == '}') || (opened == '[') != (c == ']') {
		return errSyntax
	}
	o.in = o.in[:len(o.in)-1]
	o.write(c)
	return o.endValue()
}

func (o *object) endValue() (err error) {
	if len(o.in) > 0 {
		o.at = afterValue
		if len(o.dst) >= o.room && o.fate == copied {
			o.dst, err = o.owner.full(o.dst)
		}
		return err
	}
	o.at = afterTop
	return o.owner.value()
}

// endToken writes a number or word.
func (o *object) endToken() error {
	word := string(o.token)
	switch word {
	case "true", "false", "null":
	case "NaN", "Infinity", "-Infinity":
		word = "null"
	default:
		if !isNumber(o.token) {
			return errSyntax
		}
		if len(word) > longestWord {
			word = `"` + word + `"`
		}
	}
	if o.fate == copied {
		o.dst = append(o.dst, word...)
	}
	return o.endValue()
}

// isNumber tells what JSON takes for a number.
func isNumber(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	whole := b
	b = afterDigits(b)
	if n := len(whole) - len(b); n == 0 || n > 1 && whole[0] == '0' {
		return false
	}
	if len(b) > 0 && b[0] == '.' {
		fraction := b[1:]
		if b = afterDigits(fraction); len(b) == len(fraction) {
			return false
		}
	}
	if len(b) > 0 && (b[0] == 'e' || b[0] == 'E') {
		b = b[1:]
		if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
		exponent := b
		if b = afterDigits(b); len(b) == len(exponent) {
			return false
		}
	}
	return len(b) == 0
}

func afterDigits(b []byte) []byte {
	for len(b) > 0 && '0' <= b[0] && b[0] <= '9' {
		b = b[1:]
	}
	return b
}

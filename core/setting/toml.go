package setting

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// parseTOML reads the part of TOML that config.toml uses: tables of strings,
// integers and booleans. Anything else is an error that names line and column.
// The result maps "table.key" (or "key" at the top) to its text.
func parseTOML(b []byte) (map[string]string, error) {
	if !utf8.Valid(b) {
		return nil, fault.InvalidArgument("config.toml is not UTF-8")
	}
	p := tomlReader{values: map[string]string{}, tables: map[string]bool{}, dotted: map[string]bool{}, around: map[string]bool{}}
	text := strings.TrimPrefix(string(b), "\ufeff")
	for line := range strings.Lines(text) {
		p.line++
		if whole, ok := strings.CutSuffix(line, "\n"); ok {
			line = strings.TrimSuffix(whole, "\r")
		}
		if err := p.read(line); err != nil {
			return nil, err
		}
	}
	return p.values, nil
}

type tomlReader struct {
	values map[string]string
	tables map[string]bool // with a header of their own
	dotted map[string]bool // made by dotted keys
	around map[string]bool // all of these, and what is around them
	table  string
	line   int
	text   string
	at     int
}

func (p *tomlReader) fail(what string) error {
	return fault.InvalidArgument("config.toml line %d, column %d: %s", p.line, p.at+1, what)
}

func (p *tomlReader) blank() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// atEnd skips blanks and a comment.
func (p *tomlReader) atEnd() bool {
	p.blank()
	return p.at == len(p.text) || p.text[p.at] == '#'
}

func (p *tomlReader) read(line string) error {
	p.text, p.at = line, 0
	if p.atEnd() {
		return p.comment()
	}
	if p.text[p.at] == '[' {
		return p.header()
	}
	key, err := p.key()
	if err != nil {
		return err
	}
	p.blank()
	if p.at == len(p.text) || p.text[p.at] != '=' {
		return p.fail("expected = after the key")
	}
	p.at++
	p.blank()
	return p.assign(key)
}

func (p *tomlReader) comment() error {
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; (c < ' ' && c != '\t') || c == 0x7f {
			return p.fail("a control character in a comment")
		}
	}
	return nil
}

func (p *tomlReader) header() error {
	start := p.at
	p.at++
	if strings.HasPrefix(p.text[p.at:], "[") {
		return p.fail("arrays of tables are not read here")
	}
	name, err := p.dottedKey()
	if err != nil {
		return err
	}
	if p.at == len(p.text) || p.text[p.at] != ']' {
		return p.fail("expected ]")
	}
	p.at++
	if !p.atEnd() {
		return p.fail("unexpected text after the table")
	}
	if p.tables[name] || p.dotted[name] || p.insideValue(name) {
		p.at = start
		return p.fail("the table " + name + " is there twice")
	}
	p.note(p.tables, name)
	p.table = name + "."
	return p.comment()
}

// insideValue tells whether name, or a table around it, is a value already.
func (p *tomlReader) insideValue(name string) bool {
	for outer := range outers(name + ".") {
		if _, taken := p.values[outer]; taken {
			return true
		}
	}
	return false
}

// taken tells whether a value cannot be put at key, and notes the tables that a
// dotted key makes.
func (p *tomlReader) taken(key string) bool {
	if p.insideValue(key) || p.around[key] {
		return true
	}
	for outer := range outers(key) {
		if len(outer) < len(p.table) {
			continue
		}
		if p.tables[outer] {
			return true
		}
		p.note(p.dotted, outer)
	}
	return false
}

// note remembers that name is a table.
func (p *tomlReader) note(kind map[string]bool, name string) {
	kind[name] = true
	for outer := range outers(name + ".") {
		p.around[outer] = true
	}
}

// outers are what stands before each dot.
func outers(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, c := range []byte(key) {
			if c == '.' && !yield(key[:i]) {
				return
			}
		}
	}
}

// dottedKey reads key.key. A dot inside a quoted key is refused: our names have none.
func (p *tomlReader) dottedKey() (string, error) {
	var parts []string
	for {
		p.blank()
		k, err := p.simpleKey()
		if err != nil {
			return "", err
		}
		parts = append(parts, k)
		p.blank()
		if p.at == len(p.text) || p.text[p.at] != '.' {
			return strings.Join(parts, "."), nil
		}
		p.at++
	}
}

func (p *tomlReader) key() (string, error) {
	k, err := p.dottedKey()
	return p.table + k, err
}

func (p *tomlReader) simpleKey() (string, error) {
	if p.at < len(p.text) && (p.text[p.at] == '"' || p.text[p.at] == '\'') {
		k, err := p.str()
		if err == nil && strings.Contains(k, ".") {
			err = p.fail("keys with a dot are not read here")
		}
		return k, err
	}
	start := p.at
	for p.at < len(p.text) && isBare(p.text[p.at]) {
		p.at++
	}
	if start == p.at {
		return "", p.fail("expected a key")
	}
	return p.text[start:p.at], nil
}

func isBare(c byte) bool {
	return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}

func (p *tomlReader) assign(key string) error {
	start := p.at
	v, err := p.value()
	if err != nil {
		return err
	}
	if !p.atEnd() {
		return p.fail("unexpected text after the value")
	}
	if p.taken(key) {
		p.at = start
		return p.fail("the key " + key + " is there twice")
	}
	p.values[key] = v
	return p.comment()
}

func (p *tomlReader) value() (string, error) {
	if p.at == len(p.text) {
		return "", p.fail("expected a value")
	}
	if c := p.text[p.at]; c == '"' || c == '\'' {
		return p.str()
	}
	start := p.at
	for p.at < len(p.text) && !strings.ContainsRune(" \t#", rune(p.text[p.at])) {
		p.at++
	}
	word := p.text[start:p.at]
	if word == "true" || word == "false" {
		return word, nil
	}
	n, err := tomlInteger(word)
	if err != nil {
		p.at = start
		return "", p.fail("only strings, integers and booleans are read here")
	}
	return strconv.FormatInt(n, 10), nil
}

func tomlInteger(word string) (int64, error) {
	digits := strings.TrimLeft(word, "+-")
	if len(word)-len(digits) > 1 || strings.HasPrefix(digits, "_") || strings.HasSuffix(digits, "_") || strings.Contains(digits, "__") ||
		(len(digits) > 1 && digits[0] == '0') {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(strings.ReplaceAll(word, "_", ""), 10, 64)
}

func (p *tomlReader) str() (string, error) {
	quote := p.text[p.at]
	if strings.HasPrefix(p.text[p.at:], strings.Repeat(string(quote), 3)) {
		return "", p.fail("strings of several lines are not read here")
	}
	p.at++
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == quote:
			p.at++
			return b.String(), nil
		case c == '\\' && quote == '"':
			if err := p.escape(&b); err != nil {
				return "", err
			}
			continue
		case (c < ' ' && c != '\t') || c == 0x7f:
			return "", p.fail("a control character in a string")
		}
		b.WriteByte(c)
		p.at++
	}
	return "", p.fail("the string has no end")
}

var tomlEscapes = map[byte]byte{'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r', '"': '"', '\\': '\\'}

func (p *tomlReader) escape(b *strings.Builder) error {
	if p.at+1 >= len(p.text) {
		return p.fail("the string has no end")
	}
	c := p.text[p.at+1]
	if plain, ok := tomlEscapes[c]; ok {
		b.WriteByte(plain)
		p.at += 2
		return nil
	}
	digits := map[byte]int{'u': 4, 'U': 8}[c]
	if digits == 0 || p.at+2+digits > len(p.text) {
		return p.fail("an unknown escape")
	}
	n, err := strconv.ParseUint(p.text[p.at+2:p.at+2+digits], 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return p.fail("an unknown escape")
	}
	b.WriteRune(rune(n))
	p.at += 2 + digits
	return nil
}

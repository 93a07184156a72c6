package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// Ids of sections, in the order of a module but for data count.
const (
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionStart    = 8
	sectionElement  = 9
	sectionCode     = 10
	sectionData     = 11
)

var errBroken = errors.New("this is not a module that Go wrote")

// section is one section of a module.
type section struct {
	id   byte
	body []byte
}

// module is a module in sections.
type module struct{ sections []section }

var magic = []byte("\x00asm\x01\x00\x00\x00")

func parse(b []byte) (*module, error) {
	rest, ok := bytes.CutPrefix(b, magic)
	if !ok {
		return nil, errBroken
	}
	m := &module{}
	for len(rest) > 0 {
		id := rest[0]
		n, size := binary.Uvarint(rest[1:])
		if size <= 0 || n > uint64(len(rest)-1-size) {
			return nil, errBroken
		}
		body := rest[1+size:]
		m.sections = append(m.sections, section{id, body[:n]})
		rest = body[n:]
	}
	return m, nil
}

func (m *module) bytes() []byte {
	b := slices.Clone(magic)
	for _, s := range m.sections {
		b = append(b, s.id)
		b = binary.AppendUvarint(b, uint64(len(s.body)))
		b = append(b, s.body...)
	}
	return b
}

func (m *module) find(id byte) int {
	return slices.IndexFunc(m.sections, func(s section) bool { return s.id == id })
}

func (m *module) section(id byte) []byte {
	if i := m.find(id); i >= 0 {
		return m.sections[i].body
	}
	return nil
}

func (m *module) set(id byte, body []byte) { m.sections[m.find(id)].body = body }

// grow adds an item to a section that is a vector, and gives its index.
func (m *module) grow(id byte, item []byte) (index uint64, err error) {
	body := m.section(id)
	n, size := binary.Uvarint(body)
	if size <= 0 {
		return 0, errBroken
	}
	grown := binary.AppendUvarint(nil, n+1)
	grown = append(grown, body[size:]...)
	m.set(id, append(grown, item...))
	return n, nil
}

// addStart adds a function that writes t, and has it run first of all.
func (m *module) addStart(t table) ([]byte, error) {
	if m.find(sectionStart) >= 0 {
		return nil, errors.New("the module has a start function already")
	}
	imports, err := countImports(m.section(sectionImport))
	if err != nil {
		return nil, err
	}
	kind, err := m.grow(sectionType, []byte{0x60, 0, 0}) // no parameters, no result
	if err != nil {
		return nil, err
	}
	index, err := m.grow(sectionFunction, binary.AppendUvarint(nil, kind))
	if err != nil {
		return nil, err
	}
	code := t.code()
	if _, err := m.grow(sectionCode, append(binary.AppendUvarint(nil, uint64(len(code))), code...)); err != nil {
		return nil, err
	}
	start := section{sectionStart, binary.AppendUvarint(nil, imports+index)}
	at := slices.IndexFunc(m.sections, func(s section) bool { return s.id >= sectionElement })
	if at < 0 {
		return nil, errBroken
	}
	m.sections = slices.Insert(m.sections, at, start)
	return m.bytes(), nil
}

// countImports counts imports, all of which must be functions.
func countImports(body []byte) (uint64, error) {
	n, size := binary.Uvarint(body)
	if size <= 0 {
		return 0, errBroken
	}
	body = body[size:]
	for range n {
		for range 2 { // module and name
			l, size := binary.Uvarint(body)
			if size <= 0 || l > uint64(len(body)-size) {
				return 0, errBroken
			}
			body = body[uint64(size)+l:]
		}
		if len(body) == 0 || body[0] != 0 {
			return 0, errBroken
		}
		_, size := binary.Uvarint(body[1:])
		if size <= 0 {
			return 0, errBroken
		}
		body = body[1+size:]
	}
	return n, nil
}

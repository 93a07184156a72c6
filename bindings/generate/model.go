package main

import (
	"slices"

	"github.com/agent-sandbox/agent-sandbox/core/method"
)

// Model is everything that the writers need to know, free of Go.
type Model struct {
	Methods   []*Method
	Structs   []*Struct // that a method takes or gives, sorted by name
	Enums     []*Enum   // likewise
	Frames    []*Struct // what frames hold beside methods: Client and what is in it
	Shapes    []EnumValue
	Errors    []*ErrorClass
	Fields    []*Field // of an error
	Variables []string // of the environment, that the core reads
}

// Method is one call.
type Method struct {
	Name   string // files.get_info
	Class  string // files
	Member string // get_info
	Shape  method.Shape
	Doc    Doc
	Params []*Field // positional ones first, in their order
	Result *Type    // nil = nothing
}

// Own are the parameters that a caller gives: a method of one sandbox fills in
// its id where that may be left out.
func (m *Method) Own() []*Field {
	var own []*Field
	for _, p := range m.Params {
		if p.Name == "sandbox_id" && p.Optional && m.Member != "" && m.isMember() {
			continue
		}
		own = append(own, p)
	}
	return own
}

// isMember tells whether the binding's class gets the method without a line of
// hand.
func (m *Method) isMember() bool { return m.Shape == method.Plain || m.Shape == method.Inline }

// Struct is a record.
type Struct struct {
	Name   string // as users see it
	Doc    Doc
	Fields []*Field
	Taken  bool // some method takes it
	Given  bool // some method gives it
}

// maybe tells whether a caller may find a field absent. In a record that is only
// given, what is absent on the wire is false, 0 or empty.
func (s *Struct) maybe(f *Field) bool {
	if !f.Optional || s.Taken || f.Pointer {
		return f.Optional
	}
	switch f.Type.Kind {
	case Bool, Int, Float, List, Map, Millis:
		return false
	default:
		return true
	}
}

// Enum is a string with known values; unknown ones survive.
type Enum struct {
	Name   string
	Doc    Doc
	Values []EnumValue
}

// EnumValue is one known value.
type EnumValue struct {
	Value string
	Doc   string
}

// Field is a parameter, or a field of a record.
type Field struct {
	Wire     string // its key in JSON
	Name     string // in snake case, with _ms for a duration
	Doc      string
	Type     *Type
	Optional bool // may be absent
	Pointer  bool // absent is another value than zero
	Position int  // 1... for a positional parameter; else 0
	Secret   bool // never printed
}

// public tells which records and choices users meet: those of methods that they
// call as they are, and what a write answers. The others are for hosts.
func (m *Model) public() (structs map[*Struct]bool, enums map[*Enum]bool) {
	structs, enums = map[*Struct]bool{}, map[*Enum]bool{}
	meet := func(t *Type) {
		t.walk(func(s *Struct) { structs[s] = true }, func(e *Enum) { enums[e] = true })
	}
	for _, one := range m.Methods {
		plain := one.isMember() || one.Shape == method.Wrapped
		if one.Result != nil && (plain || one.Shape == method.Write) {
			meet(one.Result)
		}
		for _, p := range one.Params {
			if plain {
				meet(p.Type)
			}
		}
	}
	return structs, enums
}

// publicNames are the names of what users meet, sorted.
func (m *Model) publicNames() (structs, enums []string) {
	s, e := m.public()
	for one := range s {
		structs = append(structs, one.Name)
	}
	for one := range e {
		enums = append(enums, one.Name)
	}
	slices.Sort(structs)
	slices.Sort(enums)
	return structs, enums
}

// Kind tells types apart.
type Kind int

// The kinds.
const (
	Any Kind = iota
	Bool
	Int
	Float
	String
	Time
	Millis // a duration in whole milliseconds
	List
	Map // of strings to Elem
	Record
	Choice
)

// Type is the type of a value.
type Type struct {
	Kind   Kind
	Elem   *Type   // of List and Map
	Struct *Struct // of Record
	Enum   *Enum   // of Choice
}

// ErrorClass is the class of one error code.
type ErrorClass struct {
	Code     string
	Name     string
	Base     string
	Doc      string
	Builtins []string // of Python, that it also is
	Kinds    []KindClass
}

// KindClass is what Python makes of one kind of an error.
type KindClass struct {
	Kind    string
	Name    string
	Builtin string
}

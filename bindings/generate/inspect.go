package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/method"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
)

// inspector builds a Model by reflection and from comments.
type inspector struct {
	source  *Source
	structs map[reflect.Type]*Struct
	enums   map[reflect.Type]*Enum
	names   map[string]reflect.Type
}

// inspect gives the model of a table. It fails for a type that has no place on
// the wire, and for a method or parameter without a comment.
func inspect(root string, table []method.Method) (*Model, error) {
	in := &inspector{
		source:  &Source{root: root, packages: map[string][]*ast.File{}},
		structs: map[reflect.Type]*Struct{}, enums: map[reflect.Type]*Enum{}, names: map[string]reflect.Type{},
	}
	m := &Model{Variables: setting.Variables()}
	var faults []error
	for _, entry := range table {
		one, err := in.method(entry)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", entry.Name, err))
			continue
		}
		m.Methods = append(m.Methods, one)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	m.Structs, m.Enums = sorted(in.structs, func(s *Struct) string { return s.Name }), sorted(in.enums, func(e *Enum) string { return e.Name })
	if err := in.frames(m); err != nil {
		return nil, err
	}
	return m, in.errors(m)
}

func sorted[T any](all map[reflect.Type]*T, name func(*T) string) []*T {
	var list []*T
	for _, one := range all {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b *T) int { return cmp.Compare(name(a), name(b)) })
	return list
}

// frames adds what a call carries beside its parameters.
func (in *inspector) frames(m *Model) error {
	for _, t := range []reflect.Type{reflect.TypeFor[method.Client](), reflect.TypeFor[handle.Handle]()} {
		if _, err := in.record(t); err != nil {
			return err
		}
	}
	for _, s := range sorted(in.structs, func(s *Struct) string { return s.Name }) {
		if !slices.Contains(m.Structs, s) {
			m.Frames = append(m.Frames, s)
		}
	}
	shape := reflect.TypeFor[method.Shape]()
	constants, err := in.source.constants(shape.PkgPath(), shape.Name())
	for _, c := range constants {
		m.Shapes = append(m.Shapes, EnumValue{c.Value, fieldDoc(c.Comment)})
	}
	return err
}

func (in *inspector) method(e method.Method) (*Method, error) {
	class, member, ok := strings.Cut(e.Name, ".")
	if !ok {
		return nil, errors.New("the name of a method is class.member")
	}
	m := &Method{Name: e.Name, Class: class, Member: member, Shape: e.Shape}
	var err error
	if m.Params, err = in.params(e); err != nil {
		return nil, err
	}
	if m.Doc, err = in.methodDoc(e); err != nil {
		return nil, err
	}
	if e.Result == nil {
		return m, nil
	}
	if m.Result, err = in.typeOf(e.Result); err != nil {
		return nil, err
	}
	m.Result.walk(func(s *Struct) { s.Given = true }, func(*Enum) {})
	return m, nil
}

func (in *inspector) methodDoc(e method.Method) (Doc, error) {
	_, comment, err := in.source.typeSpec(e.Params.PkgPath(), e.Params.Name())
	if err != nil {
		return Doc{}, err
	}
	if strings.TrimSpace(comment) == "" {
		return Doc{}, fmt.Errorf("%s has no doc comment: it documents the method", e.Params)
	}
	return parseDoc(e.Params.Name(), comment), nil
}

func (in *inspector) params(e method.Method) ([]*Field, error) {
	if e.Params == nil || e.Params.Kind() != reflect.Struct || e.Params.Name() == "" {
		return nil, errors.New("parameters are a named struct")
	}
	fields, err := in.fields(e.Params)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if f.Doc == "" {
			return nil, fmt.Errorf("parameter %s has no comment", f.Wire)
		}
		if f.Position == 0 && slices.Contains([]string{"signal", "request_timeout"}, f.Name) {
			return nil, fmt.Errorf("parameter %s hides what every call takes: give it a position or another name", f.Wire)
		}
		f.Type.walk(func(s *Struct) { s.Taken = true }, func(*Enum) {})
	}
	slices.SortStableFunc(fields, func(a, b *Field) int { return cmp.Compare(order(a), order(b)) })
	return fields, nil
}

// order puts positional parameters first, then what must be given.
func order(f *Field) int {
	switch {
	case f.Position > 0:
		return f.Position
	case !f.Optional:
		return 1000
	default:
		return 1001
	}
}

// walk visits every record and choice in a type, each record once.
func (t *Type) walk(record func(*Struct), choice func(*Enum)) {
	t.walkOnce(record, choice, map[*Struct]bool{})
}

func (t *Type) walkOnce(record func(*Struct), choice func(*Enum), seen map[*Struct]bool) {
	if t.Elem != nil {
		t.Elem.walkOnce(record, choice, seen)
	}
	if t.Kind == Choice {
		choice(t.Enum)
	}
	if t.Kind != Record || seen[t.Struct] {
		return
	}
	seen[t.Struct] = true
	record(t.Struct)
	for _, f := range t.Struct.Fields {
		f.Type.walkOnce(record, choice, seen)
	}
}

func (in *inspector) fields(t reflect.Type) ([]*Field, error) {
	comments, err := in.source.fieldComments(t)
	if err != nil {
		return nil, err
	}
	var all []*Field
	for i := range t.NumField() {
		f := t.Field(i)
		wire, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if wire == "-" {
			continue
		}
		if f.Anonymous && wire == "" {
			inner, err := in.fields(deref(f.Type))
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
			continue
		}
		if !f.IsExported() {
			continue
		}
		if wire == "" {
			return nil, fmt.Errorf("%s.%s has no json name", t, f.Name)
		}
		one, err := in.field(f, wire, options)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		one.Doc = fieldDoc(comments[f.Name])
		all = append(all, one)
	}
	return all, nil
}

func (in *inspector) field(f reflect.StructField, wire, options string) (*Field, error) {
	one := &Field{Wire: wire, Name: toSnake(wire), Pointer: f.Type.Kind() == reflect.Pointer}
	one.Optional = one.Pointer || strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
	one.Secret = f.Tag.Get("secret") == "true" || slices.Contains([]string{"password", "api_key", "token"}, one.Name)
	if arg := f.Tag.Get("arg"); arg != "" {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("arg:%q is no position", arg)
		}
		one.Position = n
	}
	var err error
	if one.Type, err = in.typeOf(f.Type); err != nil {
		return nil, err
	}
	if strings.HasSuffix(one.Name, "_ms") {
		if one.Type.Kind != Int {
			return nil, errors.New("a duration is an integer")
		}
		one.Type = &Type{Kind: Millis}
	}
	return one, nil
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

var opaque = []reflect.Type{reflect.TypeFor[json.RawMessage](), reflect.TypeFor[handle.Handle](), reflect.TypeFor[any]()}

func (in *inspector) typeOf(t reflect.Type) (*Type, error) {
	t = deref(t)
	if slices.Contains(opaque, t) {
		return &Type{Kind: Any}, nil
	}
	if t == reflect.TypeFor[time.Time]() {
		return &Type{Kind: Time}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Type{Kind: Bool}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if t == reflect.TypeFor[time.Duration]() {
			return nil, errors.New("a duration travels as an integer named ..._ms")
		}
		return &Type{Kind: Int}, nil
	case reflect.Float32, reflect.Float64:
		return &Type{Kind: Float}, nil
	case reflect.String:
		return in.text(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil, errors.New("bytes do not travel in JSON: attach them, or name a source")
		}
		return in.container(List, t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("the keys of %s are no strings", t)
		}
		return in.container(Map, t.Elem())
	case reflect.Struct:
		s, err := in.record(t)
		return &Type{Kind: Record, Struct: s}, err
	default:
		return nil, fmt.Errorf("%s has no place on the wire", t)
	}
}

func (in *inspector) container(kind Kind, elem reflect.Type) (*Type, error) {
	inner, err := in.typeOf(elem)
	return &Type{Kind: kind, Elem: inner}, err
}

// text is a string, or a choice where its type has constants.
func (in *inspector) text(t reflect.Type) (*Type, error) {
	if t.PkgPath() == "" {
		return &Type{Kind: String}, nil
	}
	if e, ok := in.enums[t]; ok {
		return &Type{Kind: Choice, Enum: e}, nil
	}
	constants, err := in.source.constants(t.PkgPath(), t.Name())
	if err != nil {
		return nil, err
	}
	if len(constants) == 0 {
		return &Type{Kind: String}, nil
	}
	e, err := in.choice(t, constants)
	return &Type{Kind: Choice, Enum: e}, err
}

func (in *inspector) choice(t reflect.Type, constants []Constant) (*Enum, error) {
	name, err := in.name(t)
	if err != nil {
		return nil, err
	}
	_, comment, err := in.source.typeSpec(t.PkgPath(), t.Name())
	if err != nil {
		return nil, err
	}
	e := &Enum{Name: name, Doc: parseDoc(t.Name(), comment)}
	for _, c := range constants {
		if c.Value != "" {
			e.Values = append(e.Values, EnumValue{c.Value, fieldDoc(c.Comment)})
		}
	}
	in.enums[t] = e
	return e, nil
}

func (in *inspector) record(t reflect.Type) (*Struct, error) {
	if s, ok := in.structs[t]; ok {
		return s, nil
	}
	if t.Name() == "" {
		return nil, errors.New("a record has a named type")
	}
	name, err := in.name(t)
	if err != nil {
		return nil, err
	}
	_, comment, err := in.source.typeSpec(t.PkgPath(), t.Name())
	if err != nil {
		return nil, err
	}
	s := &Struct{Name: name, Doc: parseDoc(t.Name(), comment)}
	in.structs[t] = s
	s.Fields, err = in.fields(t)
	return s, err
}

// name is what users call a type; no two may have the same.
func (in *inspector) name(t reflect.Type) (string, error) {
	name := t.Name()
	if public, ok := publicNames[path.Base(t.PkgPath())+"."+name]; ok {
		name = public
	}
	if other, ok := in.names[name]; ok && other != t {
		return "", fmt.Errorf("%s and %s have the same name %s: give one another in publicNames", other, t, name)
	}
	in.names[name] = t
	return name, nil
}

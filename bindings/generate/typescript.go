package main

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

const tsWidth = 100

// tsHead begins a file.
func tsHead(w *writer) { w.line("// " + generated) }

// tsComment writes a TSDoc block.
func tsComment(w *writer, indent string, blocks ...string) {
	var lines []string
	for _, b := range blocks {
		if b == "" {
			continue
		}
		if len(lines) > 0 && (!strings.HasPrefix(b, "@") || !strings.HasPrefix(lines[len(lines)-1], "@") && !strings.HasPrefix(lines[len(lines)-1], "  ")) {
			lines = append(lines, "")
		}
		for i, l := range wrap(b, tsWidth-len(indent)-3) {
			if i > 0 && strings.HasPrefix(b, "@") {
				l = "  " + l
			}
			lines = append(lines, l)
		}
	}
	switch {
	case len(lines) == 0:
	case len(lines) == 1 && len(indent)+len(lines[0])+7 <= tsWidth:
		w.line("%s/** %s */", indent, lines[0])
	default:
		w.line("%s/**", indent)
		for _, l := range lines {
			w.line("%s", strings.TrimRight(indent+" * "+l, " "))
		}
		w.line("%s */", indent)
	}
}

// tsImport writes one import, broken like biome does.
func tsImport(w *writer, names []string, from string) {
	if len(names) == 0 {
		return
	}
	one := "import { " + strings.Join(names, ", ") + " } from '" + from + "'"
	if len(one) <= tsWidth {
		w.line("%s", one)
		return
	}
	w.list("", "import {", names, "} from '"+from+"'", "  ", 0)
}

// tsType is the type of a value; readonly where a caller gives it.
func tsType(t *Type, taken bool) string {
	readonly := ""
	if taken {
		readonly = "readonly "
	}
	switch t.Kind {
	case Bool:
		return "boolean"
	case Int, Float, Millis:
		return "number"
	case String:
		return "string"
	case Time:
		return "Date"
	case List:
		return readonly + tsElement(t.Elem, taken) + "[]"
	case Map:
		record := "Record<string, " + tsType(t.Elem, taken) + ">"
		if taken {
			return "Readonly<" + record + ">"
		}
		return record
	case Record:
		return t.Struct.Name
	case Choice:
		return t.Enum.Name
	default:
		return "unknown"
	}
}

func tsElement(t *Type, taken bool) string {
	inner := tsType(t, taken)
	if strings.HasPrefix(inner, "readonly ") {
		return "(" + inner + ")"
	}
	return inner
}

// tsUnit tells what a number counts.
func tsUnit(f *Field) string {
	if f.Type.Kind == Millis && !strings.Contains(f.Doc, "millisecond") {
		return " In milliseconds."
	}
	return ""
}

func (m *Model) tsDoc(f *Field) string {
	doc := m.respell(f.Doc, camel)
	if doc == "" {
		return ""
	}
	return strings.TrimSuffix(doc, ".") + "." + tsUnit(f)
}

// tsReadFunc is a function that reads a value off the wire; "" where it is
// taken as it is.
func tsReadFunc(t *Type) string {
	switch t.Kind {
	case Record:
		return "read" + t.Struct.Name
	case Time:
		return "readTime"
	case List, Map:
		inner := tsReadFunc(t.Elem)
		if inner == "" {
			return ""
		}
		return "(one) => " + tsRead(t, "one")
	default:
		return ""
	}
}

// tsRead is the expression that reads x.
func tsRead(t *Type, x string) string {
	inner := ""
	if t.Elem != nil {
		inner = tsReadFunc(t.Elem)
	}
	switch {
	case t.Kind == List && inner != "":
		return "readList(" + x + ", " + inner + ")"
	case t.Kind == Map && inner != "":
		return "readMap(" + x + ", " + inner + ")"
	case t.Kind == List:
		return "(" + x + " ?? []) as " + tsType(t, false)
	case t.Kind == Map:
		return "(" + x + " ?? {}) as " + tsType(t, false)
	case t.Kind == Any:
		return x
	case tsReadFunc(t) != "":
		return tsReadFunc(t) + "(" + x + ")"
	default:
		return x + " as " + tsType(t, false)
	}
}

// tsReadField is tsRead for a field, which may be absent.
func tsReadField(s *Struct, f *Field) string {
	x := "wire." + f.Wire
	if s.maybe(f) {
		if read := tsReadFunc(f.Type); read != "" {
			return "readMaybe(" + x + ", " + read + ")"
		}
		if f.Type.Kind == Any {
			return x
		}
		return x + " as " + tsType(f.Type, false) + " | undefined"
	}
	if f.Optional {
		switch f.Type.Kind {
		case Bool:
			return "(" + x + " ?? false) as boolean"
		case Int, Float, Millis:
			return "(" + x + " ?? 0) as number"
		}
	}
	return tsRead(f.Type, x)
}

// tsKind says what a value may be, for write.ts.
func tsKind(t *Type) string {
	switch t.Kind {
	case Bool:
		return "'flag'"
	case Int:
		return "'whole'"
	case Float:
		return "'number'"
	case String, Choice:
		return "'text'"
	case Time:
		return "'time'"
	case Millis:
		return "'millis'"
	case List:
		return "{ list: " + tsKind(t.Elem) + " }"
	case Map:
		return "{ map: " + tsKind(t.Elem) + " }"
	case Record:
		return "{ record: () => " + tsFieldsName(t.Struct) + " }"
	default:
		return "'any'"
	}
}

func tsFieldsName(s *Struct) string { return lowerFirst(s.Name) + "Fields" }

// tsFields declares what a call or a record takes.
func tsFields(w *writer, name string, fields []*Field, arguments bool) {
	if len(fields) == 0 {
		w.line("const %s: Fields = {}", name)
		return
	}
	w.line("const %s: Fields = {", name)
	for _, f := range fields {
		says := []string{"wire: '" + f.Wire + "'", "is: " + tsKind(f.Type)}
		if !f.Optional {
			says = append(says, "needed: true")
		}
		if arguments && f.Position > 0 {
			says = append(says, "argument: true")
		}
		if one := "  " + camel(f.Name) + ": { " + strings.Join(says, ", ") + " },"; len(one) <= tsWidth {
			w.line("%s", one)
		} else {
			w.list("  ", camel(f.Name)+": {", says, "},", "  ", 0)
		}
	}
	w.line("}")
}

func tsVariables(m *Model) string {
	var w writer
	tsHead(&w)
	w.line("")
	tsComment(&w, "", "The environment variables that the core reads: a host hands in those that are set.")
	w.line("export const variables: readonly string[] = [")
	for _, v := range m.Variables {
		w.line("  '%s',", v)
	}
	w.line("]")
	return w.String()
}

// byLowerName sorts as biome does: a type by its name, letter by letter, a
// capital before the same small one.
func byLowerName(names []string) []string {
	slices.SortFunc(names, func(a, b string) int {
		return slices.CompareFunc([]rune(strings.TrimPrefix(a, "type ")), []rune(strings.TrimPrefix(b, "type ")), func(x, y rune) int {
			if c := cmp.Compare(unicode.ToLower(x), unicode.ToLower(y)); c != 0 {
				return c
			}
			return cmp.Compare(x, y)
		})
	})
	return names
}

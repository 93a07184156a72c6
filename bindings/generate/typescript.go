package main

import (
	"slices"
	"strings"
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

// tsWriteFunc is a function that writes a value for the wire; "" where it goes
// as it is.
func tsWriteFunc(t *Type) string {
	switch {
	case !t.converted(camel):
		return ""
	case t.Kind == Record:
		return "write" + t.Struct.Name
	case t.Kind == List || t.Kind == Map:
		return "(one) => " + tsWrite(t, "", "one")
	default:
		return ""
	}
}

// tsWrite is the expression that writes x, which a caller knows as name.
func tsWrite(t *Type, name, x string) string {
	switch t.Kind {
	case Time:
		return "writeTime('" + name + "', " + x + ")"
	case Millis:
		return "writeMillis('" + name + "', " + x + ")"
	case List, Map:
		if inner := tsWriteFunc(t.Elem); inner != "" {
			verb := map[Kind]string{List: "writeList", Map: "writeMap"}[t.Kind]
			return verb + "(" + x + ", " + inner + ")"
		}
	case Record:
		if f := tsWriteFunc(t); f != "" {
			return f + "(" + x + ")"
		}
	}
	return x
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

// byLowerName sorts as biome does: a type by its name, any case alike.
func byLowerName(names []string) []string {
	slices.SortFunc(names, func(a, b string) int {
		a, b = strings.TrimPrefix(a, "type "), strings.TrimPrefix(b, "type ")
		if c := strings.Compare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	return names
}

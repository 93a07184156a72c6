package main

import (
	"regexp"
	"slices"
	"strings"
)

const pyWidth = 120

// pyHead begins a module.
func pyHead(w *writer, doc string) {
	w.line("# " + generated)
	w.line("")
	w.line(`"""%s"""`, doc)
}

// pyDoc writes a docstring: the text, and sections of named lines.
func pyDoc(w *writer, indent, text string, sections ...section) {
	width := pyWidth - len(indent)
	lines := wrap(text, width)
	var some bool
	for _, s := range sections {
		some = some || len(s.lines) > 0
	}
	if len(lines) == 1 && !some && len(lines[0])+6 <= width {
		w.line(`%s"""%s"""`, indent, lines[0])
		return
	}
	lines = wrap(text, width-3)
	w.line(`%s"""%s`, indent, lines[0])
	for _, l := range lines[1:] {
		w.line("%s", strings.TrimRight(indent+l, " "))
	}
	for _, s := range sections {
		if len(s.lines) == 0 {
			continue
		}
		w.line("")
		w.line("%s%s:", indent, s.title)
		for _, one := range s.lines {
			for i, l := range wrap(one, width-8) {
				if i > 0 {
					l = "    " + l
				}
				w.line("%s    %s", indent, l)
			}
		}
	}
	w.line(`%s"""`, indent)
}

// section is a titled part of a docstring.
type section struct {
	title string
	lines []string
}

// pyImport writes one import, broken like ruff does.
func pyImport(w *writer, from string, names []string) {
	if len(names) == 0 {
		return
	}
	slices.SortFunc(names, isortOrder)
	one := "from " + from + " import " + strings.Join(names, ", ")
	if len(one) <= pyWidth {
		w.line("%s", one)
		return
	}
	w.list("", "from "+from+" import (", names, ")", "    ", 0)
}

// isortOrder: constants, then classes, then the rest.
func isortOrder(a, b string) int {
	if x, y := isortRank(a), isortRank(b); x != y {
		return x - y
	}
	return strings.Compare(a, b)
}

func isortRank(s string) int {
	switch {
	case len(s) > 1 && strings.ToUpper(s) == s:
		return 0
	case strings.ToUpper(s[:1]) == s[:1]:
		return 1
	default:
		return 2
	}
}

// pyType is the type of a value; taken where a caller gives it.
func pyType(t *Type, taken bool) string {
	list, dict := "list[", "dict[str, "
	if taken {
		list, dict = "Sequence[", "Mapping[str, "
	}
	switch t.Kind {
	case Bool:
		return "bool"
	case Int:
		return "int"
	case Float, Millis:
		return "float"
	case String:
		return "str"
	case Time:
		return "datetime"
	case List:
		return list + pyType(t.Elem, taken) + "]"
	case Map:
		return dict + pyType(t.Elem, taken) + "]"
	case Record:
		if taken {
			return t.Struct.Name + " | " + t.Struct.Name + "Dict"
		}
		return t.Struct.Name
	case Choice:
		if taken {
			return t.Enum.Name + " | str"
		}
		return t.Enum.Name
	default:
		return "Any"
	}
}

func pyMaybe(t *Type, taken bool) string {
	if kind := pyType(t, taken); kind != "Any" {
		return kind + " | None"
	}
	return "Any"
}

func (m *Model) pyFieldDoc(f *Field) string {
	doc := m.pyText(f.Doc)
	if doc == "" {
		return ""
	}
	doc = strings.TrimSuffix(doc, ".") + "."
	if f.Type.Kind == Millis {
		doc += " In seconds."
	}
	return doc
}

func (m *Model) pySection(title string, fields []*Field) section {
	s := section{title: title}
	for _, f := range fields {
		s.lines = append(s.lines, strings.TrimSpace(pythonic(f.Name)+": "+m.pyFieldDoc(f)))
	}
	return s
}

// pyReadFunc is a function that reads a value off the wire; "" where it is
// taken as it is.
func pyReadFunc(t *Type) string {
	switch t.Kind {
	case Record:
		return "read_" + toSnake(t.Struct.Name)
	case Choice:
		return t.Enum.Name
	case Time:
		return "read_time"
	case Millis:
		return "read_seconds"
	case List, Map:
		if pyReadFunc(t.Elem) == "" {
			return ""
		}
		return "lambda one: " + pyRead(t, "one")
	default:
		return ""
	}
}

// pyRead is the expression that reads x.
func pyRead(t *Type, x string) string {
	inner := ""
	if t.Elem != nil {
		inner = pyReadFunc(t.Elem)
	}
	switch {
	case t.Kind == List && inner != "":
		return "read_list(" + x + ", " + inner + ")"
	case t.Kind == Map && inner != "":
		return "read_map(" + x + ", " + inner + ")"
	case t.Kind == List:
		return x + " or []"
	case t.Kind == Map:
		return x + " or {}"
	case pyReadFunc(t) != "":
		return pyReadFunc(t) + "(" + x + ")"
	default:
		return x
	}
}

func pyReadField(s *Struct, f *Field) string {
	get := `wire.get("` + f.Wire + `")`
	switch {
	case s.maybe(f) && pyReadFunc(f.Type) != "":
		return "read_maybe(" + get + ", " + pyReadFunc(f.Type) + ")"
	case s.maybe(f), f.Type.Kind == Any:
		return get
	case f.Optional && f.Type.Kind == Bool:
		return `wire.get("` + f.Wire + `", False)`
	case f.Optional && (f.Type.Kind == Int || f.Type.Kind == Float):
		return `wire.get("` + f.Wire + `", 0)`
	case f.Optional && f.Type.Kind == Millis:
		return `read_seconds(wire.get("` + f.Wire + `", 0))`
	case f.Type.Kind == List, f.Type.Kind == Map:
		return pyRead(f.Type, get)
	default:
		return pyRead(f.Type, `wire["`+f.Wire+`"]`)
	}
}

// pyWriteFunc is a function that writes a value for the wire; "" where it goes
// as it is.
func pyWriteFunc(t *Type) string {
	switch t.Kind {
	case Record:
		return "write_" + toSnake(t.Struct.Name)
	case List, Map:
		return "lambda one: " + pyWrite(t, "an item", "one")
	}
	return ""
}

// pyWrite is the expression that writes x, which a caller knows as name.
func pyWrite(t *Type, name, x string) string {
	switch t.Kind {
	case Time:
		return `write_time("` + name + `", ` + x + `)`
	case Millis:
		return `write_seconds("` + name + `", ` + x + `)`
	case Record:
		return pyWriteFunc(t) + "(" + x + ")"
	case List, Map:
		verb := map[Kind]string{List: "write_list", Map: "write_map"}[t.Kind]
		inner := ""
		if f := pyWriteFunc(t.Elem); f != "" {
			inner = ", " + f
		}
		return verb + `("` + name + `", ` + x + inner + ")"
	default:
		return x
	}
}

func pyPackage() string {
	return "# " + generated + "\n\n" + `"""What is the same in every binding, written from the core's table of methods."""` + "\n"
}

func pyVariables(m *Model) string {
	var w writer
	pyHead(&w, "The environment variables that the core reads: a host hands in those that are set.")
	w.line("")
	w.line("VARIABLES: tuple[str, ...] = (")
	for _, v := range m.Variables {
		w.line("    %q,", v)
	}
	w.line(")")
	return w.String()
}

var constants = regexp.MustCompile(`\b(?:true|false|null)\b`)

// pyText is a text in Python's words.
func (m *Model) pyText(text string) string {
	return constants.ReplaceAllStringFunc(m.respell(text, pythonic), func(word string) string {
		return map[string]string{"true": "True", "false": "False", "null": "None"}[word]
	})
}

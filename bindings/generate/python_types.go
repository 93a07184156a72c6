package main

import (
	"slices"
	"strconv"
	"strings"
)

func pyTypes(m *Model) string {
	var body writer
	for _, e := range m.Enums {
		m.pyEnum(&body, e)
	}
	for _, s := range m.Structs {
		m.pyRecord(&body, s)
		if s.Taken {
			m.pyDict(&body, s)
		}
	}
	for _, s := range m.Structs {
		if s.Given {
			pyReader(&body, s)
		}
	}
	for _, s := range m.Structs {
		if s.Taken {
			pyWriter(&body, s)
		}
	}
	var w writer
	pyHead(&w, "The types of parameters and results.")
	pyImports(&w, body.String())
	pyImport(&w, ".convert", used(body.String(), pyConvertNames()))
	structs, enums := m.publicNames()
	public := append(structs, enums...)
	for _, s := range m.Structs {
		if s.Taken && slices.Contains(structs, s.Name) {
			public = append(public, s.Name+"Dict")
		}
	}
	pyAll(&w, public)
	w.WriteString(body.String())
	return w.String()
}

// pyAll lists what a module gives to users.
func pyAll(w *writer, names []string) {
	slices.Sort(names)
	var items []string
	for _, n := range names {
		items = append(items, strconv.Quote(n))
	}
	w.line("")
	w.list("", "__all__ = [", items, "]", "    ", 0)
}

func pyConvertNames() []string {
	return []string{
		"Choice", "Record", "Wire", "given", "read_list", "read_map", "read_maybe", "read_seconds", "read_time",
		"write_list", "write_map", "write_seconds", "write_time",
	}
}

// pyImports writes the imports of the standard library that a text needs.
func pyImports(w *writer, text string) {
	w.line("")
	w.line("from __future__ import annotations")
	w.line("")
	if len(used(text, []string{"builtins"})) > 0 {
		w.line("import builtins")
	}
	pyImport(w, "collections.abc", used(text, []string{"Mapping", "Sequence"}))
	pyImport(w, "datetime", used(text, []string{"datetime"}))
	pyImport(w, "typing", used(text, []string{"Any", "ClassVar", "TypedDict"}))
	w.line("")
}

func (m *Model) pyEnum(w *writer, e *Enum) {
	w.line("\n")
	w.line("class %s(Choice):", e.Name)
	pyDoc(w, "    ", m.pyText(e.Doc.Text))
	w.line("")
	for _, v := range e.Values {
		comment := ""
		if v.Doc != "" {
			comment = "  # " + lowerFirst(v.Doc)
		}
		w.line("    %s = %q%s", constant(v.Value), v.Value, comment)
	}
}

func (m *Model) pyRecord(w *writer, s *Struct) {
	w.line("\n")
	w.line("class %s(Record):", s.Name)
	pyDoc(w, "    ", m.pyText(s.Doc.Text), m.pySection("Attributes", s.Fields))
	w.line("")
	var names, hidden, arguments []string
	for _, f := range s.Fields {
		name := pythonic(f.Name)
		names = append(names, `"`+name+`"`)
		if f.Secret {
			hidden = append(hidden, `"`+name+`"`)
		}
		if s.maybe(f) {
			arguments = append(arguments, name+": "+pyMaybe(f.Type, s.Taken)+" = None")
		} else {
			arguments = append(arguments, name+": "+pyType(f.Type, s.Taken))
		}
	}
	if len(names) == 1 {
		w.line("    _fields = (%s,)", names[0])
	} else {
		w.list("    ", "_fields = (", names, ")", "    ", pyWidth)
	}
	w.line("    __slots__ = _fields")
	if hidden != nil {
		w.line("    _hidden: ClassVar[frozenset[str]] = frozenset({%s})", strings.Join(hidden, ", "))
	}
	w.line("")
	w.list("    ", "def __init__(", append([]string{"self", "*"}, arguments...), ") -> None:", "    ", pyWidth)
	for _, f := range s.Fields {
		name := pythonic(f.Name)
		w.line("        self.%s = %s", name, name)
	}
}

func (m *Model) pyDict(w *writer, s *Struct) {
	w.line("\n")
	w.line("class %sDict(TypedDict, total=False):", s.Name)
	pyDoc(w, "    ", "The fields of "+s.Name+" as a dict.")
	w.line("")
	for _, f := range s.Fields {
		w.line("    %s: %s", pythonic(f.Name), pyType(f.Type, true))
	}
}

func pyReader(w *writer, s *Struct) {
	w.line("\n")
	w.line("def read_%s(wire: Any) -> %s:", toSnake(s.Name), s.Name)
	w.line(`    """Reads %s %s off the wire."""`, article(s.Name), s.Name)
	var items []string
	for _, f := range s.Fields {
		items = append(items, pythonic(f.Name)+"="+pyReadField(s, f))
	}
	w.list("    ", "return "+s.Name+"(", items, ")", "    ", pyWidth)
}

func pyWriter(w *writer, s *Struct) {
	w.line("\n")
	w.line("def write_%s(value: %s | %sDict) -> Wire:", toSnake(s.Name), s.Name, s.Name)
	w.line(`    """Writes %s %s for the wire."""`, article(s.Name), s.Name)
	w.line("    fields = given(%q, value, %s)", strings.ReplaceAll(toSnake(s.Name), "_", " "), s.Name)
	w.line("    wire: Wire = {}")
	for _, f := range s.Fields {
		name := pythonic(f.Name)
		w.line("    if (one := fields.get(%q)) is not None:", name)
		w.line("        wire[%q] = %s", f.Wire, pyWrite(f.Type, name, "one"))
	}
	w.line("    return wire")
}

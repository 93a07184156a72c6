package main

import "strings"

func tsTypes(m *Model) string {
	var body writer
	for _, e := range m.Enums {
		m.tsEnum(&body, e)
	}
	for _, s := range m.Structs {
		m.tsInterface(&body, s)
	}
	for _, s := range m.Structs {
		if s.Given {
			tsReader(&body, s)
		}
	}
	for _, s := range m.Structs {
		if s.Taken {
			body.line("")
			body.line("/** What %s %s is made of. */", article(s.Name), s.Name)
			body.WriteString("export ")
			tsFields(&body, tsFieldsName(s), s.Fields, false)
		}
	}
	var w writer
	tsHead(&w)
	tsImport(&w, used(body.String(), convertNames()), "./convert.ts")
	w.line("import type { Fields } from './write.ts'")
	w.WriteString(body.String())
	return w.String()
}

// tsPublic exports what users meet.
func tsPublic(m *Model) string {
	structs, enums := m.publicNames()
	names := enums
	for _, s := range structs {
		names = append(names, "type "+s)
	}
	options := []string{"CallOptions"}
	for _, one := range m.offered() {
		if named, _ := one.options(); one.isMember() && len(named) > 0 {
			options = append(options, tsOptionsName(one))
		}
	}
	var w writer
	tsHead(&w)
	w.list("", "export type {", byLowerName(options), "} from './methods.ts'", "  ", 0)
	w.list("", "export {", byLowerName(names), "} from './types.ts'", "  ", 0)
	return w.String()
}

// convertNames are what convert.ts gives, as an import names it.
func convertNames() []string {
	return []string{"readList", "readMap", "readMaybe", "readTime", "type Wire"}
}

// used keeps the names that a text uses.
func used(text string, names []string) []string {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z')
	}) {
		words[w] = true
	}
	var kept []string
	for _, n := range names {
		if words[strings.TrimPrefix(n, "type ")] {
			kept = append(kept, n)
		}
	}
	return kept
}

func (m *Model) tsEnum(w *writer, e *Enum) {
	w.line("")
	doc := m.respell(e.Doc.Text, camel)
	tsComment(w, "", doc)
	w.line("export const %s = {", e.Name)
	for _, v := range e.Values {
		tsComment(w, "  ", m.respell(v.Doc, camel))
		w.line("  %s: '%s',", constant(v.Value), v.Value)
	}
	w.line("} as const")
	w.line("")
	tsComment(w, "", doc)
	one := "export type " + e.Name + " ="
	rest := []string{"(typeof " + e.Name + ")[keyof typeof " + e.Name + "]", "(string & Record<never, never>)"}
	if line := one + " " + strings.Join(rest, " | "); len(line) <= tsWidth {
		w.line("%s", line)
		return
	}
	w.line("%s", one)
	w.line("  | %s", rest[0])
	w.line("  | %s", rest[1])
}

func (m *Model) tsInterface(w *writer, s *Struct) {
	w.line("")
	tsComment(w, "", m.respell(s.Doc.Text, camel))
	w.line("export interface %s {", s.Name)
	for _, f := range s.Fields {
		tsComment(w, "  ", m.tsDoc(f))
		w.line("  readonly %s", tsMember(f, s.maybe(f), s.Taken))
	}
	w.line("}")
}

// tsMember declares a field.
func tsMember(f *Field, maybe, taken bool) string {
	name, kind := camel(f.Name), tsType(f.Type, taken)
	if !maybe {
		return name + ": " + kind
	}
	if kind != "unknown" {
		kind += " | undefined"
	}
	return name + "?: " + kind
}

func tsReader(w *writer, s *Struct) {
	w.line("")
	w.line("/** Reads %s %s off the wire. */", article(s.Name), s.Name)
	w.line("export function read%s(value: unknown): %s {", s.Name, s.Name)
	w.line("  const wire = value as Wire")
	w.line("  return {")
	for _, f := range s.Fields {
		w.line("    %s: %s,", camel(f.Name), tsReadField(s, f))
	}
	w.line("  }")
	w.line("}")
}

func article(name string) string {
	if strings.ContainsAny(name[:1], "AEIOU") {
		return "an"
	}
	return "a"
}

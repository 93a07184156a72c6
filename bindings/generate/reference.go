package main

import (
	"fmt"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/method"
)

// reference is the page that lists every method in the words of both languages.
func reference(m *Model) string {
	var w writer
	w.line("<!-- %s -->", generated)
	w.line("# Reference")
	w.line("")
	w.line("Every call, and what it takes and gives, in Python and JavaScript. Names are the same but for the spelling; a duration is in seconds in Python")
	w.line("(`timeout`) and in milliseconds in JavaScript (`timeoutMs`); a time is a `datetime` with a zone or a `Date`. What is optional may be left out; arguments")
	w.line("in *italics* stand first, without a name. Every call that asks the network also takes `request_timeout` or `requestTimeoutMs`, and in JavaScript")
	w.line("`signal`; what a call takes besides these tables (callbacks, data) is in the guides. Errors: [errors.md](errors.md).")
	class := ""
	for _, one := range m.offered() {
		if one.Class != class {
			class = one.Class
			w.line("")
			w.line("## %s", class)
		}
		m.referenceMethod(&w, one)
	}
	w.line("")
	w.line("## Types")
	structs, enums := m.public()
	for _, e := range m.Enums {
		if enums[e] {
			m.referenceEnum(&w, e)
		}
	}
	for _, s := range m.Structs {
		if structs[s] {
			w.line("")
			w.line("### %s", s.Name)
			w.line("")
			w.line("%s", m.pyText(s.Doc.Text))
			m.referenceFields(&w, s.Fields, s.maybe)
		}
	}
	return w.String()
}

func (m *Model) referenceMethod(w *writer, one *Method) {
	w.line("")
	w.line("### %s", one.Name)
	w.line("")
	py, js := one.Member, camel(one.Member)
	if py != js {
		w.line("`%s` · `%s`", py, js)
		w.line("")
	}
	w.line("%s", m.pyText(one.Doc.Text))
	if !one.isMember() {
		w.line("")
		w.line("Its form in each language: [Python](python.md), [JavaScript](javascript.md).")
	}
	m.referenceFields(w, m.met(one.Own()), func(f *Field) bool { return f.Optional })
	if one.Result != nil && one.isMember() {
		w.line("")
		w.line("Gives `%s`.", strings.Join(unique(pyType(one.Result, false), tsType(one.Result, false)), "` · `"))
	}
	if one.Shape == method.Inline {
		w.line("")
		w.line("It needs no network, and is not awaited.")
	}
	if len(one.Doc.Raises) > 0 {
		w.line("")
		for _, r := range one.Doc.Raises {
			w.line("- `%s` (%s): %s", m.errorName(r.Code), r.Code, m.pyText(m.when(r)))
		}
	}
}

// met are the parameters that users give: what only hosts know is left out.
func (m *Model) met(fields []*Field) []*Field {
	structs, _ := m.public()
	var some []*Field
	for _, f := range fields {
		hosts := false
		f.Type.walk(func(s *Struct) { hosts = hosts || !structs[s] }, func(*Enum) {})
		if !hosts {
			some = append(some, f)
		}
	}
	return some
}

func unique(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

func (m *Model) referenceFields(w *writer, fields []*Field, maybe func(*Field) bool) {
	if len(fields) == 0 {
		return
	}
	w.line("")
	w.line("| Python | JavaScript | type | |")
	w.line("| --- | --- | --- | --- |")
	for _, f := range fields {
		mark, optional := "", ""
		if f.Position > 0 {
			mark = "*"
		}
		if maybe(f) {
			optional = ", optional"
		}
		kind := fmt.Sprintf("`%s`", strings.Join(unique(pyType(f.Type, false), tsType(f.Type, false)), "`, `"))
		doc := strings.ReplaceAll(m.pyText(f.Doc), "|", "\\|")
		w.line("| %s`%s`%s | %s`%s`%s | %s%s | %s |", mark, pythonic(f.Name), mark, mark, camel(f.Name), mark, kind, optional, doc)
	}
}

func (m *Model) referenceEnum(w *writer, e *Enum) {
	w.line("")
	w.line("### %s", e.Name)
	w.line("")
	w.line("%s", m.pyText(e.Doc.Text))
	w.line("")
	var values []string
	for _, v := range e.Values {
		values = append(values, "`"+v.Value+"`")
	}
	for _, l := range wrap(strings.Join(values, ", "), 140) {
		w.line("%s", l)
	}
}

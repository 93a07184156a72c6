package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/method"
)

func pyParams(m *Model) string {
	var body writer
	for _, one := range m.offered() {
		m.pyParamsOf(&body, one)
	}
	var w writer
	pyHead(&w, "The parameters of every method, from a caller's names and units to the wire's.")
	pyImports(&w, body.String())
	pyImport(&w, ".convert", used(body.String(), pyConvertNames()))
	pyImport(&w, ".types", used(body.String(), m.pyTypeNames()))
	w.WriteString(body.String())
	return w.String()
}

// pyTypeNames are what types.py gives.
func (m *Model) pyTypeNames() []string {
	var names []string
	for _, e := range m.Enums {
		names = append(names, e.Name)
	}
	for _, s := range m.Structs {
		names = append(names, s.Name, s.Name+"Dict", "read_"+toSnake(s.Name), "write_"+toSnake(s.Name))
	}
	return names
}

// pyArguments are the arguments of a method: positional ones and keywords.
func pyArguments(one *Method) []string {
	named, positional := one.options()
	var list []string
	for i, p := range positional {
		if p.Optional && anyRequired(positional[i:]) {
			list = append(list, pythonic(p.Name)+": "+pyMaybe(p.Type, true))
			continue
		}
		list = append(list, pyArgument(p))
	}
	if len(named) > 0 {
		list = append(list, "*")
	}
	for _, p := range named {
		list = append(list, pyArgument(p))
	}
	return list
}

func pyArgument(p *Field) string {
	if p.Optional {
		return pythonic(p.Name) + ": " + pyMaybe(p.Type, true) + " = None"
	}
	return pythonic(p.Name) + ": " + pyType(p.Type, true)
}

func pyParamsName(one *Method) string { return strings.ReplaceAll(one.Name, ".", "_") + "_params" }

func (m *Model) pyParamsOf(w *writer, one *Method) {
	w.line("\n")
	w.list("", "def "+pyParamsName(one)+"(", pyArguments(one), ") -> Wire:", "    ", pyWidth)
	w.line(`    """The parameters of %s."""`, one.Name)
	var always []string
	var maybe []*Field
	for _, p := range one.Own() {
		if p.Optional {
			maybe = append(maybe, p)
		} else {
			always = append(always, fmt.Sprintf("%q: %s", p.Wire, pyWrite(p.Type, pythonic(p.Name), pythonic(p.Name))))
		}
	}
	if len(maybe) == 0 {
		w.list("    ", "return {", always, "}", "    ", pyWidth)
		return
	}
	w.list("    ", "wire: Wire = {", always, "}", "    ", pyWidth)
	for _, p := range maybe {
		w.line("    if %s is not None:", pythonic(p.Name))
		w.line("        wire[%q] = %s", p.Wire, pyWrite(p.Type, pythonic(p.Name), pythonic(p.Name)))
	}
	w.line("    return wire")
}

// pyMethods writes the classes, once to be awaited and once not.
func pyMethods(m *Model, async bool) string {
	var body writer
	for _, class := range m.classes() {
		m.pyClass(&body, class, async)
	}
	var params []string
	for _, one := range m.offered() {
		params = append(params, pyParamsName(one))
	}
	doc := "The calls that need no more than parameters and a result, blocking."
	if async {
		doc = "The calls that need no more than parameters and a result."
	}
	code := pyCode(body.String())
	var w writer
	pyHead(&w, doc)
	pyImports(&w, code)
	pyImport(&w, ".convert", used(code, pyConvertNames()))
	pyImport(&w, ".params", used(code, params))
	pyImport(&w, ".types", used(code, m.pyTypeNames()))
	w.WriteString(body.String())
	return w.String()
}

// pyCode is a text without its docstrings.
func pyCode(text string) string {
	parts := strings.Split(text, `"""`)
	var code []string
	for i := 0; i < len(parts); i += 2 {
		code = append(code, parts[i])
	}
	return strings.Join(code, "")
}

func (m *Model) pyClass(w *writer, c *Class, async bool) {
	w.line("\n")
	name := pascal(c.Name)
	w.line("class %sMethods:", name)
	pyDoc(w, "    ", fmt.Sprintf("The calls of %s that need no more than parameters and a result.", c.Name))
	w.line("")
	w.line("    __slots__ = ()")
	w.line("")
	w.line("    %s _call(self, method: str, params: Wire, request_timeout: float | None = None) -> Any:", pyDef(async))
	w.line(`        """Makes one call of the core."""`)
	w.line("        raise NotImplementedError")
	if c.inline() {
		w.line("")
		w.line("    def _call_now(self, method: str, params: Wire) -> Any:")
		w.line(`        """Makes one call that needs no I/O."""`)
		w.line("        raise NotImplementedError")
	}
	for _, one := range c.Methods {
		w.line("")
		m.pyMethod(w, c, one, async && one.Shape != method.Inline)
	}
}

func (c *Class) has(member string) bool {
	return slices.ContainsFunc(c.Methods, func(m *Method) bool { return m.Member == member })
}

func pyDef(async bool) string {
	if async {
		return "async def"
	}
	return "def"
}

func (m *Model) pyMethod(w *writer, c *Class, one *Method, async bool) {
	arguments := append([]string{"self"}, pyArguments(one)...)
	named, positional := one.options()
	waits := one.Shape != method.Inline
	if waits {
		if len(named) == 0 {
			arguments = append(arguments, "*")
		}
		arguments = append(arguments, "request_timeout: float | None = None")
	}
	result := "None"
	if one.Result != nil {
		result = pyType(one.Result, false)
	}
	shown := result
	if c.has("list") {
		shown = strings.ReplaceAll(result, "list[", "builtins.list[") // the method of that name hides it
	}
	w.list("    ", pyDef(async)+" "+one.Member+"(", arguments, ") -> "+shown+":", "    ", pyWidth)
	args := m.pySection("Args", append(append([]*Field{}, positional...), named...))
	if waits {
		args.lines = append(args.lines, "request_timeout: Until the head of an answer; 0 = no limit. Default: the client's. In seconds.")
	}
	raises := section{title: "Raises"}
	for _, r := range one.Doc.Raises {
		raises.lines = append(raises.lines, m.errorName(r.Code)+": "+r.Code+", "+m.pyText(m.when(r))+".")
	}
	pyDoc(w, "        ", m.pyText(one.Doc.Text), args, raises)
	var passed []string
	for _, p := range positional {
		passed = append(passed, pythonic(p.Name))
	}
	for _, p := range named {
		passed = append(passed, pythonic(p.Name)+"="+pythonic(p.Name))
	}
	w.list("        ", "params = "+pyParamsName(one)+"(", passed, ")", "    ", pyWidth)
	call := fmt.Sprintf("self._call(%q, params, request_timeout)", one.Name)
	switch {
	case !waits:
		call = fmt.Sprintf("self._call_now(%q, params)", one.Name)
	case async:
		call = "await " + call
	}
	pyReturn(w, one, result, call)
}

// pyReturn makes the result of a call.
func pyReturn(w *writer, one *Method, result, call string) {
	if one.Result == nil {
		w.line("        %s", call)
		return
	}
	if one.Result.Kind == Any {
		w.line("        return %s", call)
		return
	}
	if pyReadFunc(one.Result) != "" {
		w.line("        answer = %s", call)
		w.line("        return %s", pyRead(one.Result, "answer"))
		return
	}
	w.line("        result: %s = %s", result, pyRead(one.Result, call))
	w.line("        return result")
}

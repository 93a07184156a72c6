package main

import (
	"fmt"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/method"
)

func tsMethods(m *Model) string {
	var body writer
	tsCallOptions(&body)
	for _, one := range m.offered() {
		m.tsOptions(&body, one)
		m.tsParams(&body, one)
	}
	for _, class := range m.classes() {
		m.tsClass(&body, class)
	}
	var types []string
	for _, e := range m.Enums {
		types = append(types, e.Name)
	}
	for _, s := range m.Structs {
		types = append(types, s.Name)
	}
	var functions []string
	for _, s := range m.Structs {
		functions = append(functions, "read"+s.Name, tsFieldsName(s))
	}
	code := tsCode(body.String())
	var names []string
	for _, n := range used(code, types) {
		names = append(names, "type "+n)
	}
	var w writer
	tsHead(&w)
	tsImport(&w, used(code, convertNames()), "./convert.ts")
	tsImport(&w, byLowerName(append(names, used(code, functions)...)), "./types.ts")
	w.line("import { type Fields, writeCall } from './write.ts'")
	w.WriteString(body.String())
	return w.String()
}

// tsCode is a text without its comments.
func tsCode(text string) string {
	var code []string
	for _, l := range strings.Split(text, "\n") {
		if t := strings.TrimSpace(l); !strings.HasPrefix(t, "/*") && !strings.HasPrefix(t, "*") {
			code = append(code, l)
		}
	}
	return strings.Join(code, "\n")
}

// offered are the methods that users get.
func (m *Model) offered() []*Method {
	var some []*Method
	for _, one := range m.Methods {
		if one.Shape != method.Inner {
			some = append(some, one)
		}
	}
	return some
}

// Class groups methods by the first part of their names.
type Class struct {
	Name    string
	Methods []*Method
}

func (m *Model) classes() []*Class {
	var all []*Class
	byName := map[string]*Class{}
	for _, one := range m.offered() {
		c := byName[one.Class]
		if c == nil {
			c = &Class{Name: one.Class}
			byName[one.Class], all = c, append(all, c)
		}
		if one.isMember() {
			c.Methods = append(c.Methods, one)
		}
	}
	return all
}

func tsCallOptions(w *writer) {
	w.line("")
	w.line("/** What every call takes. */")
	w.line("export interface CallOptions {")
	w.line("  /** Cancels the call, which then rejects with the signal's reason. */")
	w.line("  readonly signal?: AbortSignal | undefined")
	tsComment(w, "  ", "Until the head of an answer; 0 = no limit. Default: the client's. In milliseconds.")
	w.line("  readonly requestTimeoutMs?: number | undefined")
	w.line("}")
}

// options are the parameters that are not positional.
func (m *Method) options() (named, positional []*Field) {
	for _, p := range m.Own() {
		if p.Position > 0 {
			positional = append(positional, p)
		} else {
			named = append(named, p)
		}
	}
	return named, positional
}

func tsOptionsName(one *Method) string { return pascal(one.Name) + "Options" }

func (m *Model) tsOptions(w *writer, one *Method) {
	named, _ := one.options()
	if len(named) == 0 {
		return
	}
	w.line("")
	tsComment(w, "", fmt.Sprintf("Options of `%s.%s`.", one.Class, camel(one.Member)))
	extends := " extends CallOptions"
	if one.Shape == method.Inline {
		extends = ""
	}
	w.line("export interface %s%s {", tsOptionsName(one), extends)
	for _, p := range named {
		tsComment(w, "  ", m.tsDoc(p))
		w.line("  readonly %s", tsMember(p, p.Optional, true))
	}
	w.line("}")
}

// tsArguments are the arguments of a method: positional ones and options.
func tsArguments(one *Method, always bool) []string {
	named, positional := one.options()
	var list []string
	for i, p := range positional {
		argument := camel(p.Name) + ": " + tsType(p.Type, true)
		switch {
		case p.Optional && (anyRequired(positional[i:]) || anyRequired(named)):
			argument += " | undefined"
		case p.Optional:
			argument = camel(p.Name) + "?: " + tsType(p.Type, true)
		}
		list = append(list, argument)
	}
	switch {
	case len(named) > 0 && anyRequired(named):
		list = append(list, "options: "+tsOptionsName(one))
	case len(named) > 0:
		list = append(list, "options: "+tsOptionsName(one)+" = {}")
	case always && one.Shape != method.Inline:
		list = append(list, "options: CallOptions = {}")
	}
	return list
}

func anyRequired(fields []*Field) bool {
	for _, f := range fields {
		if !f.Optional {
			return true
		}
	}
	return false
}

// tsParams writes the function that makes the parameters of a method. Its last
// argument names the options that are the binding's own.
func (m *Model) tsParams(w *writer, one *Method) {
	named, positional := one.options()
	name := camel(strings.ReplaceAll(one.Name, ".", "_"))
	arguments := tsArguments(one, true)
	passed := []string{"'" + tsCallName(one) + "'", name + "Fields", "{}"}
	if len(positional) > 0 {
		var names []string
		for _, p := range positional {
			names = append(names, camel(p.Name))
		}
		passed[2] = "{ " + strings.Join(names, ", ") + " }"
	}
	if len(named) > 0 || one.Shape != method.Inline {
		arguments = append(arguments, "also?: readonly string[]")
		passed = append(passed, "options", "also")
	}
	w.line("")
	tsFields(w, name+"Fields", append(append([]*Field{}, positional...), named...), true)
	w.line("")
	w.line("/** The parameters of `%s` for the wire. */", one.Name)
	w.list("", "export function "+name+"Params(", arguments, "): Wire {", "  ", tsWidth)
	w.list("  ", "return writeCall(", passed, ")", "  ", tsWidth)
	w.line("}")
}

// tsCallName is how a user would write a call.
func tsCallName(one *Method) string {
	if one.Class == "sandbox" {
		return "Sandbox." + camel(one.Member)
	}
	return one.Class + "." + camel(one.Member)
}

func (m *Model) tsClass(w *writer, c *Class) {
	w.line("")
	name := pascal(c.Name)
	tsComment(w, "", fmt.Sprintf("The calls of `%s` that need no more than parameters and a result. The class %s adds the others.", name, name))
	w.line("export abstract class %sMethods {", name)
	w.line("  /** Makes one call of the core. */")
	call := []string{"method: string", "params: object", "options?: CallOptions"}
	w.list("  ", "protected abstract call<T>(", call, "): Promise<T>", "  ", tsWidth)
	if c.inline() {
		w.line("")
		w.line("  /** Makes one call that needs no I/O. */")
		w.line("  protected abstract callNow<T>(method: string, params: object): T")
	}
	for _, one := range c.Methods {
		w.line("")
		m.tsMethod(w, one)
	}
	w.line("}")
}

func (c *Class) inline() bool {
	for _, one := range c.Methods {
		if one.Shape == method.Inline {
			return true
		}
	}
	return false
}

func (m *Model) tsMethodDoc(w *writer, one *Method) {
	named, positional := one.options()
	blocks := []string{m.respell(one.Doc.Text, camel)}
	for _, p := range positional {
		blocks = append(blocks, "@param "+camel(p.Name)+" - "+m.tsDoc(p))
	}
	if len(named) > 0 || one.Shape != method.Inline {
		blocks = append(blocks, "@param options - Besides what every call takes: "+tsNames(named)+".")
		if len(named) == 0 {
			blocks[len(blocks)-1] = "@param options - What every call takes."
		} else if one.Shape == method.Inline {
			blocks[len(blocks)-1] = "@param options - May have " + tsNames(named) + "."
		}
	}
	for _, r := range one.Doc.Raises {
		blocks = append(blocks, "@throws "+m.errorName(r.Code)+" ("+r.Code+"): "+m.respell(m.when(r), camel)+".")
	}
	tsComment(w, "  ", blocks...)
}

func tsNames(fields []*Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, "`"+camel(f.Name)+"`")
	}
	return strings.Join(names, ", ")
}

func (m *Model) errorName(code string) string {
	for _, e := range m.Errors {
		if e.Code == code {
			return e.Name
		}
	}
	return baseError
}

// when is what a method says about an error, else what the code always means.
func (m *Model) when(r Raises) string {
	if r.When != "" {
		return strings.TrimSuffix(r.When, ".")
	}
	for _, e := range m.Errors {
		if e.Code == r.Code {
			return lowerFirst(e.Doc)
		}
	}
	return ""
}

func (m *Model) tsMethod(w *writer, one *Method) {
	m.tsMethodDoc(w, one)
	result := "void"
	if one.Result != nil {
		result = tsType(one.Result, false)
	}
	params := camel(strings.ReplaceAll(one.Name, ".", "_")) + "Params(" + tsPassed(one) + ")"
	if one.Shape == method.Inline {
		w.list("  ", camel(one.Member)+"(", tsArguments(one, true), "): "+result+" {", "  ", tsWidth)
		w.line("    const params = %s", params)
		w.line("    return %s", tsReturn(one, "this.callNow%s('"+one.Name+"', params)"))
	} else {
		w.list("  ", "async "+camel(one.Member)+"(", tsArguments(one, true), "): Promise<"+result+"> {", "  ", tsWidth)
		w.line("    const params = %s", params)
		call := tsReturn(one, "await this.call%s('"+one.Name+"', params, options)")
		if one.Result == nil {
			w.line("    %s", call)
		} else {
			w.line("    return %s", call)
		}
	}
	w.line("  }")
}

// tsReturn makes the result of a call, whose type argument is %s.
func tsReturn(one *Method, call string) string {
	if one.Result == nil {
		return fmt.Sprintf(call, "")
	}
	if tsReadFunc(one.Result) == "" && one.Result.Kind != List && one.Result.Kind != Map {
		return fmt.Sprintf(call, "<"+tsType(one.Result, false)+">")
	}
	if tsReadFunc(one.Result) == "" {
		call = fmt.Sprintf(call, "<"+tsType(one.Result, false)+" | null>")
		if one.Shape != method.Inline {
			call = "(" + call + ")"
		}
		return call + " ?? " + map[Kind]string{List: "[]", Map: "{}"}[one.Result.Kind]
	}
	return tsRead(one.Result, fmt.Sprintf(call, ""))
}

func tsPassed(one *Method) string {
	named, positional := one.options()
	var names []string
	for _, p := range positional {
		names = append(names, camel(p.Name))
	}
	if len(named) > 0 || one.Shape != method.Inline {
		names = append(names, "options")
	}
	return strings.Join(names, ", ")
}

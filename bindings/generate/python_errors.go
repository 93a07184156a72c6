package main

import (
	"fmt"
	"strings"
)

func pyErrors(m *Model) string {
	var w writer
	pyHead(&w, "The errors: one class for each code. Decide by class or code, never by the message.")
	w.line("")
	w.line("from __future__ import annotations")
	w.line("")
	w.line("from collections.abc import Mapping")
	w.line("from keyword import iskeyword")
	w.line("from typing import Any")
	names := []string{baseError}
	for _, e := range m.Errors {
		names = append(names, e.Name)
		for _, k := range e.Kinds {
			names = append(names, k.Name)
		}
	}
	pyAll(&w, names)
	m.pyBaseError(&w)
	for _, e := range inherited(m.Errors) {
		pyErrorClass(&w, e.Name, append([]string{e.Base}, e.Builtins...), e.Code+": "+lowerFirst(e.Doc)+".")
		w.line("")
		w.line("    code = %q", e.Code)
		for _, k := range e.Kinds {
			pyErrorClass(&w, k.Name, []string{e.Name, k.Builtin}, e.Code+" of the kind "+k.Kind+".")
		}
	}
	m.pyErrorFromJSON(&w)
	return w.String()
}

func pyErrorClass(w *writer, name string, bases []string, doc string) {
	w.line("\n")
	w.line("class %s(%s):", name, strings.Join(bases, ", "))
	pyDoc(w, "    ", doc)
}

// given are the fields that a constructor takes by name.
func (m *Model) pyDetails() []*Field {
	return append([]*Field{m.field("code"), m.field("cause")}, m.details()...)
}

func pyErrorDefault(f *Field) string {
	if f.Type.Kind == Bool {
		return "bool = False"
	}
	return pyMaybe(f.Type, true) + " = None"
}

func (m *Model) pyBaseError(w *writer) {
	pyErrorClass(w, baseError, []string{"Exception"}, "placeholder")
	text := w.String()
	w.Reset()
	w.WriteString(strings.TrimSuffix(text, "    \"\"\"placeholder\"\"\"\n"))
	shown := append([]*Field{m.field("code"), m.field("message"), m.field("cause")}, m.details()...)
	pyDoc(w, "    ", "The class of every error of this package.", m.pySection("Attributes", shown))
	w.line("")
	w.line("    code: str = \"E9000\"")
	w.line("")
	w.line("    def __init__(")
	w.line("        self,")
	w.line("        message: str,")
	w.line("        *,")
	for _, f := range m.pyDetails() {
		w.line("        %s: %s,", pythonic(f.Name), pyErrorDefault(f))
	}
	w.line("    ) -> None:")
	w.line("        super().__init__(message)")
	w.line("        self.message = message")
	w.line("        if code is not None:")
	w.line("            self.code = code")
	for _, f := range m.pyDetails()[1:] {
		w.line("        self.%s = %s", pythonic(f.Name), pythonic(f.Name))
	}
	w.line("")
	w.line("    def __str__(self) -> str:")
	w.line(`        hint = f" ({self.suggestion})" if self.suggestion else ""`)
	w.line(`        return f"{self.code}: {self.message}{hint}"`)
	w.line("")
	w.line("    def __repr__(self) -> str:")
	w.line(`        return f"{type(self).__name__}({str(self)!r})"`)
	w.line("")
	w.line("    def __reduce__(self) -> tuple[Any, ...]:")
	w.line("        return _rebuild, (type(self), self.message, {k: v for k, v in self.__dict__.items() if k != \"message\"})")
}

func (m *Model) pyErrorFromJSON(w *writer) {
	w.line("\n")
	w.line("def _rebuild(kind: type[%s], message: str, fields: dict[str, Any]) -> %s:", baseError, baseError)
	w.line("    error = kind(message)")
	w.line("    error.__dict__.update(fields)")
	w.line("    return error")
	w.line("\n")
	w.line("_CLASSES: dict[str, type[%s]] = {", baseError)
	for _, e := range m.Errors {
		w.line("    %q: %s,", e.Code, e.Name)
	}
	w.line("}")
	w.line("_KINDS: dict[str, type[%s]] = {", baseError)
	for _, e := range m.Errors {
		for _, k := range e.Kinds {
			w.line("    %q: %s,", e.Code+" "+k.Kind, k.Name)
		}
	}
	w.line("}")
	w.line("\n")
	w.line("def _option(name: str) -> str:")
	pyDoc(w, "    ", "An option as it is spelt here: ``timeout`` for ``timeout_ms``.")
	w.line(`    names = [part.removesuffix("_ms") for part in name.split(".")]`)
	w.line(`    return ".".join(part + "_" if iskeyword(part) else part for part in names)`)
	w.line("\n")
	w.line("def _spelt(data: Mapping[str, Any], name: str) -> str | None:")
	pyDoc(w, "    ", "A text that may name options. It comes in pieces then.")
	w.line(`    pieces = data.get(name + "_parts")`)
	w.line("    if not pieces:")
	w.line("        whole: str | None = data.get(name)")
	w.line("        return whole")
	w.line(`    return "".join([_option(p["option"]) if "option" in p else p.get("text", "") for p in pieces])`)
	w.line("\n")
	w.line("def error_from_json(data: Mapping[str, Any], partial: Any = None) -> %s:", baseError)
	pyDoc(w, "    ", "Makes the error that the core told of, of its code's class. An unknown code gives the base class.",
		section{"Args", []string{"data: What the core said.", "partial: What was received before the failure."}})
	w.line("    code = data.get(\"code\") or %s.code", baseError)
	w.line(`    kind = _KINDS.get(f"{code} {data.get('kind')}") or _CLASSES.get(code) or %s`, baseError)
	w.line("    return kind(")
	w.line(`        _spelt(data, "message") or "",`)
	for _, f := range m.pyDetails() {
		w.line("        %s=%s,", pythonic(f.Name), pyErrorField(f))
	}
	w.line("    )")
}

func pyErrorField(f *Field) string {
	switch {
	case f.Name == "code", f.Name == "partial":
		return f.Name
	case f.Name == "suggestion":
		return `_spelt(data, "suggestion")`
	case f.Name == "option":
		return `_option(data["option"]) if data.get("option") else None`
	case f.Type.Kind == Bool:
		return fmt.Sprintf("bool(data.get(%q))", f.Wire)
	case f.Type.Kind == Millis:
		return fmt.Sprintf("data[%q] / 1000 if %q in data else None", f.Wire, f.Wire)
	default:
		return fmt.Sprintf("data.get(%q)", f.Wire)
	}
}

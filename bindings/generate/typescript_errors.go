package main

func tsErrors(m *Model) string {
	var w writer
	tsHead(&w)
	w.line("import type { CommandResult } from '../command_result.ts'")
	w.line("import type { Execution } from '../execution.ts'")
	w.line("import { readOption, readSpelt, type Wire } from './convert.ts'")
	m.tsErrorFields(&w)
	m.tsBaseError(&w)
	for _, e := range inherited(m.Errors) {
		w.line("")
		tsComment(&w, "", e.Code+": "+lowerFirst(e.Doc)+".")
		w.line("export class %s extends %s {", e.Name, e.Base)
		w.line("  static override readonly code: string = '%s'", e.Code)
		w.line("")
		w.line("  static {")
		w.line("    %s.prototype.name = '%s'", e.Name, e.Name)
		w.line("  }")
		w.line("}")
	}
	m.tsErrorFromJSON(&w)
	return w.String()
}

// inherited puts each class behind its base.
func inherited(classes []*ErrorClass) []*ErrorClass {
	done := map[string]bool{baseError: true}
	var sorted []*ErrorClass
	for len(sorted) < len(classes) {
		before := len(sorted)
		for _, c := range classes {
			if done[c.Base] && !done[c.Name] {
				sorted, done[c.Name] = append(sorted, c), true
			}
		}
		if len(sorted) == before {
			break
		}
	}
	return sorted
}

// details are the fields that come after code, message and cause.
func (m *Model) details() []*Field {
	var some []*Field
	for _, f := range m.Fields {
		if f.Name != "code" && f.Name != "message" && f.Name != "cause" {
			some = append(some, f)
		}
	}
	return some
}

func (m *Model) field(name string) *Field {
	for _, f := range m.Fields {
		if f.Name == name {
			return f
		}
	}
	return &Field{Name: name, Type: &Type{}}
}

func (m *Model) tsErrorFields(w *writer) {
	w.line("")
	tsComment(w, "", "What an error may say beside its message.")
	w.line("export interface ErrorDetails {")
	tsComment(w, "  ", "The code, where the class does not say it.")
	w.line("  readonly code?: string | undefined")
	tsComment(w, "  ", m.tsDoc(m.field("cause")))
	w.line("  readonly cause?: unknown")
	for _, f := range m.details() {
		tsComment(w, "  ", m.tsDoc(f))
		w.line("  readonly %s", tsDetail(f))
	}
	w.line("}")
}

// tsDetail declares a field of an error.
func tsDetail(f *Field) string {
	if f.Name == "partial" {
		return "partial?: CommandResult | Execution | undefined"
	}
	return tsMember(f, true, true)
}

func (m *Model) tsBaseError(w *writer) {
	w.line("")
	tsComment(w, "", "The class of every error of this package. Decide by `code` or by class, never by the message.")
	w.line("export class %s extends Error {", baseError)
	w.line("  /** The code that errors of this class have. */")
	w.line("  static readonly code: string = 'E9000'")
	w.line("")
	tsComment(w, "  ", m.tsDoc(m.field("code")))
	w.line("  readonly code: string")
	for _, f := range m.details() {
		tsComment(w, "  ", m.tsDoc(f))
		w.line("  declare readonly %s", tsDetail(f))
	}
	w.line("")
	w.line("  static {")
	w.line("    %s.prototype.name = '%s'", baseError, baseError)
	w.line("  }")
	w.line("")
	w.line("  constructor(message: string, details: ErrorDetails = {}) {")
	w.line("    super(message, details.cause === undefined ? undefined : { cause: details.cause })")
	w.line("    this.code = details.code ?? new.target.code")
	for _, f := range m.details() {
		name := camel(f.Name)
		w.line("    if (details.%s !== undefined) this.%s = details.%s", name, name, name)
	}
	w.line("    const head = `${this.name}: ${message}`")
	w.line("    if (this.stack?.startsWith(head)) this.stack = this.toString() + this.stack.slice(head.length)")
	w.line("  }")
	w.line("")
	tsComment(w, "  ", "Code, message and suggestion.")
	w.line("  override toString(): string {")
	w.line("    const hint = this.suggestion ? ` (${this.suggestion})` : ''")
	w.line("    return `${this.name}: ${this.code}: ${this.message}${hint}`")
	w.line("  }")
	w.line("")
	tsComment(w, "  ", "Every field, for logs. It holds no secret.")
	w.line("  toJSON(): Record<string, unknown> {")
	w.line("    const own = Object.fromEntries(Object.entries(this))")
	w.line("    return { name: this.name, message: this.message, ...own }")
	w.line("  }")
	w.line("}")
}

func (m *Model) tsErrorFromJSON(w *writer) {
	w.line("")
	w.line("const classes: Readonly<Record<string, typeof %s>> = {", baseError)
	for _, e := range m.Errors {
		w.line("  %s: %s,", e.Code, e.Name)
	}
	w.line("}")
	w.line("")
	tsComment(w, "", "Makes the error that the core told of, of its code's class. An unknown code gives the base class.", "@param partial - What was received before the failure.", "@param cause - What the host knows of the cause, if anything.")
	w.list("", "export function errorFromJSON(", []string{"value: unknown", "partial?: CommandResult | Execution", "cause?: unknown"}, "): "+baseError+" {", "  ", tsWidth)
	w.line("  const wire = value as Wire")
	w.line("  const known = classes[wire.code as string] ?? %s", baseError)
	w.line("  return new known(readSpelt(wire.message_parts, wire.message) ?? '', {")
	w.line("    code: wire.code as string,")
	w.line("    cause: cause ?? wire.cause,")
	for _, f := range m.details() {
		x := "wire." + f.Wire
		switch f.Name {
		case "partial":
			x = "partial"
		case "suggestion":
			x = "readSpelt(wire.suggestion_parts, wire.suggestion)"
		case "option":
			x = "readOption(wire.option)"
		default:
			x += " as " + tsType(f.Type, false) + " | undefined"
		}
		if camel(f.Name) == x {
			w.line("    %s,", x)
		} else {
			w.line("    %s: %s,", camel(f.Name), x)
		}
	}
	w.line("  })")
	w.line("}")
}

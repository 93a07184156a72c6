package fault

import (
	"fmt"
	"strings"
)

// Option names an option in a message, as the method table spells it
// (timeout_ms, network.allow_out). Each language shows its own spelling; Go's is
// String.
type Option string

// String is the option as Go programs write it: Timeout for timeout_ms.
func (o Option) String() string {
	switch o {
	case "sandbox_id":
		return "id"
	case "command", "argv", "path", "source", "destination", "port", "handle", "signal", "start", "end", "files":
		return string(o) // parameters of functions, no fields
	}
	holder, name, inside := strings.Cut(strings.TrimSuffix(string(o), "_ms"), ".")
	if inside {
		return Option(holder).String() + "." + Option(name).String()
	}
	words := strings.Split(holder, "_")
	for i, word := range words {
		switch word {
		case "":
		case "id", "api", "url", "cpu", "mb", "pid":
			words[i] = strings.ToUpper(word)
		default:
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// Part is a piece of a message: a text, or the name of an option.
type Part struct {
	Text   string
	Option Option // "" = the text
}

// parts cuts a message where it names options. In format such a name is a %s.
func parts(format string, args []any) []Part {
	var all []Part
	var from, first, n int
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		verb := i
		if i++; i < len(format) && format[i] == '%' {
			continue
		}
		if n < len(args) {
			if option, ok := args[n].(Option); ok {
				all = append(all, Part{Text: fmt.Sprintf(format[from:verb], args[first:n]...)}, Part{Option: option})
				from, first = i+1, n+1
			}
		}
		n++
	}
	if all == nil {
		return nil
	}
	return append(all, Part{Text: fmt.Sprintf(format[from:], args[min(first, len(args)):]...)})
}

// current is parts unless the text was changed since.
func current(parts []Part, text string) []Part {
	if join(parts, Option.String) != text {
		return nil
	}
	return parts
}

func spelled(parts []Part, text string, spell func(Option) string) string {
	if parts = current(parts, text); parts == nil {
		return text
	}
	return join(parts, spell)
}

func join(parts []Part, spell func(Option) string) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Option != "" {
			b.WriteString(spell(p.Option))
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

package main

import (
	"regexp"
	"strings"
)

// Doc is a doc comment without the name it began with.
type Doc struct {
	Text   string   // one paragraph or more
	Raises []Raises // what its last sentence says about errors
}

// Raises is one code and when it comes.
type Raises struct {
	Code string
	When string
}

var (
	sentence = regexp.MustCompile(`(?s)\s*\bErrors:\s+(E\d{4}.*?)\.?\s*$`)
	code     = regexp.MustCompile(`E\d{4}`)
	spaces   = regexp.MustCompile(`[ \t]*\n[ \t]*`)
	and      = regexp.MustCompile(`[,;.]?\s*(?:\band\b|\bor\b)?\s*$`)
)

// parseDoc takes the comment of the Go name apart.
func parseDoc(name, comment string) Doc {
	comment = strings.TrimSpace(comment)
	var d Doc
	if at := sentence.FindStringSubmatchIndex(comment); at != nil {
		d.Raises = parseRaises(comment[at[2]:at[3]])
		comment = comment[:at[0]]
	}
	var paragraphs []string
	for _, p := range strings.Split(strings.TrimSpace(comment), "\n\n") {
		paragraphs = append(paragraphs, spaces.ReplaceAllString(strings.TrimSpace(p), " "))
	}
	d.Text = internal.ReplaceAllString(strings.Join(paragraphs, "\n\n"), "")
	for _, start := range []string{name + " is ", name + " are ", name + " "} {
		if rest, ok := strings.CutPrefix(d.Text, start); ok {
			d.Text = rest
			break
		}
	}
	d.Text = upperFirst(d.Text)
	return d
}

func parseRaises(text string) []Raises {
	text = spaces.ReplaceAllString(text, " ")
	var all []Raises
	at := code.FindAllStringIndex(text, -1)
	for i, pair := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		when := and.ReplaceAllString(strings.TrimSpace(text[pair[1]:end]), "")
		all = append(all, Raises{text[pair[0]:pair[1]], strings.TrimLeft(when, ":, ")})
	}
	return all
}

// internal are references to pages that users do not have.
var internal = regexp.MustCompile(` \((?:e2b|surface|design)\.md[^)]*\)`)

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func lowerFirst(s string) string {
	if s == "" || len(s) > 1 && strings.ToUpper(s[:2]) == s[:2] {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// fieldDoc makes a sentence of the comment beside a field.
func fieldDoc(comment string) string {
	text := internal.ReplaceAllString(spaces.ReplaceAllString(strings.TrimSpace(comment), " "), "")
	if first, _, _ := strings.Cut(text, " "); strings.HasSuffix(first, ",") || strings.Contains(strings.TrimSuffix(first, ":"), ":") {
		return text // it begins with a value
	}
	return upperFirst(text)
}

var snake = regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)

// respell gives the caller's spelling to every name of the table in a text.
func (m *Model) respell(text string, spell func(string) string) string {
	known := map[string]bool{}
	for _, method := range m.Methods {
		known[method.Member] = true
		for _, p := range method.Params {
			known[p.Name] = true
			known[strings.TrimSuffix(p.Name, "_ms")] = true
		}
	}
	for _, s := range m.Structs {
		for _, f := range s.Fields {
			known[f.Name] = true
		}
	}
	return snake.ReplaceAllStringFunc(text, func(word string) string {
		if !known[word] {
			return word
		}
		if known[word+"_ms"] {
			word += "_ms"
		}
		return spell(word)
	})
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			lines = append(lines, "")
		}
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}

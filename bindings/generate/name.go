package main

import (
	"slices"
	"strings"
	"unicode"
)

// toSnake gives allow_out for allowOut; snake case stays.
func toSnake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) {
			if i > 0 && !unicode.IsUpper(rune(s[i-1])) && s[i-1] != '_' {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// camel gives timeoutMs for timeout_ms.
func camel(s string) string {
	words := strings.Split(s, "_")
	for i := range words {
		if i > 0 {
			words[i] = upperFirst(words[i])
		}
	}
	return strings.Join(words, "")
}

// pascal gives FilesGetInfo for files.get_info.
func pascal(s string) string {
	return upperFirst(camel(strings.ReplaceAll(s, ".", "_")))
}

// pythonic gives timeout for timeout_ms: Python counts seconds.
func pythonic(s string) string {
	s = strings.TrimSuffix(s, "_ms")
	if slices.Contains(pythonKeywords, s) {
		return s + "_"
	}
	return s
}

var pythonKeywords = []string{
	"and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
	"global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
}

// constant gives NOT_A_DIRECTORY for not_a_directory.
func constant(s string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_", " ", "_").Replace(toSnake(s)))
}

// publicNames are those of users where Go's name, which has a package before
// it, says too little.
var publicNames = map[string]string{
	"provider.Info":      "SandboxInfo",
	"provider.Metric":    "SandboxMetrics",
	"provider.Page":      "SandboxPage",
	"provider.Limit":     "SandboxLimit",
	"provider.HostRule":  "NetworkRule",
	"provider.Transform": "NetworkTransform",
	"plane.Entry":        "EntryInfo",
	"plane.Event":        "FilesystemEvent",
	"plane.EventType":    "FilesystemEventType",
}

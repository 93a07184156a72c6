package kernelspec

import (
	"slices"
	"strings"
)

// preferred are the kernels of a language by name, the best first.
func preferred(language string) []string {
	switch language {
	case "python":
		return []string{"python3", "python"}
	case "javascript":
		return []string{"deno", "javascript", "jslab", "node_nteract"}
	case "typescript":
		return []string{"deno", "tslab", "typescript"}
	case "r":
		return []string{"ir", "xr", "ark"}
	case "bash":
		return []string{"bash"}
	case "java":
		return []string{"java", "rapaio-jupyter-kernel"}
	}
	return nil
}

// known are the languages that have preferred kernels.
var known = [...]string{"bash", "java", "javascript", "python", "r", "typescript"}

// Languages are what For finds kernels for: the known languages, and every other kernel
// by its name.
func Languages(list []Spec) []string {
	var names []string
	used := map[string]bool{}
	for _, language := range known {
		if s, ok := For(language, list); ok {
			names, used[s.Name] = append(names, language), true
		}
	}
	for _, s := range list {
		if !used[s.Name] {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Language normalises the name of a language; another name stays, as that of a
// kernel, in lower case. "" is python.
func Language(name string) string {
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "", "py", "python3":
		return "python"
	case "js":
		return "javascript"
	case "ts":
		return "typescript"
	}
	return name
}

// For finds the kernel for a normalised language: one that is known to be good
// for it, then one of that name, then any that says it speaks the language.
func For(language string, list []Spec) (Spec, bool) {
	for _, name := range append(preferred(language), language) {
		for _, s := range list {
			if s.Name == name {
				return s, true
			}
		}
	}
	for _, s := range list {
		if strings.EqualFold(s.Language, language) {
			return s, true
		}
	}
	return Spec{}, false
}
